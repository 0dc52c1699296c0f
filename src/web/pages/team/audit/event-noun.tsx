import { TextLink } from '../../../components/links.tsx';
import { useTeam, type Permission } from '../team.ts';
import type { AuditEvent } from './event.ts';
import { Name } from '../../../components/name.tsx';
import { OwnWords } from '../../../messages/define-texts.ts';
import { replaceQuotationMarks } from '../../../../messages/neutralize.ts';

export type Role = 'actor' | 'subject' | 'target';

type Place = {
  readonly to:
    | '/teams/$teamId/members'
    | '/teams/$teamId/roles'
    | '/teams/$teamId/invitations'
    | '/teams/$teamId/api-keys'
    | '/teams/$teamId/webhooks';
  readonly needs: Permission;
  /** Whether the page can be searched for the name. */
  readonly isSearched?: boolean;
};

const MEMBERS: Place = { to: '/teams/$teamId/members', needs: 'access_dashboard', isSearched: true };

/** Where the target of an event is shown, by the part of the event’s name before the dot. */
const PLACES: Readonly<Record<string, Place>> = {
  member: { to: '/teams/$teamId/roles', needs: 'access_dashboard' },
  role: { to: '/teams/$teamId/roles', needs: 'access_dashboard' },
  invitation: { to: '/teams/$teamId/invitations', needs: 'invite_members', isSearched: true },
  api_key: { to: '/teams/$teamId/api-keys', needs: 'manage_api_keys', isSearched: true },
  webhook_endpoint: { to: '/teams/$teamId/webhooks', needs: 'edit_team_settings' },
};

/** Events after which the page does not show what they name. */
const ENDS = /\.(deleted|revoked|removed|declined)$/;

type EventNounProps = { readonly event: AuditEvent; readonly role: Role; readonly name: string | OwnWords };

/** The name of what an event is about, which leads to where it is shown if it still can be. */
export function EventNoun({ event, role, name }: EventNounProps) {
  const { team, can } = useTeam();
  const place = findPlace(event, role);
  if (name instanceof OwnWords) return <Name>{name.text}</Name>;
  const shown = replaceQuotationMarks(name);
  if (place === undefined || !can(place.needs)) return <Name>{shown}</Name>;
  return (
    <TextLink
      to={place.to}
      params={{ teamId: team.slug }}
      search={place.isSearched === true ? { q: name } : {}}
      className="event-noun"
    >
      <Name>{shown}</Name>
    </TextLink>
  );
}

function findPlace({ event, actor, subject, target }: AuditEvent, role: Role): Place | undefined {
  if (role === 'target') {
    const isShown = typeof target?.name === 'string' && !ENDS.test(event);
    return isShown ? PLACES[event.split('.')[0] ?? ''] : undefined;
  }
  const person = role === 'actor' ? actor : (subject ?? actor);
  const isGone = event === 'member.left' || (role === 'subject' && event === 'member.removed');
  return typeof person?.name === 'string' && !isGone ? MEMBERS : undefined;
}
