import { Group } from '@mantine/core';
import { TextLink } from '../../../components/links.tsx';
import { auditTexts as words } from '../../../messages/audit.ts';
import { useTeam, type Permission } from '../team.ts';
import type { AuditEvent } from './event.ts';

type Target = {
  readonly to:
    | '/teams/$teamId/members'
    | '/teams/$teamId/roles'
    | '/teams/$teamId/invitations'
    | '/teams/$teamId/api-keys'
    | '/teams/$teamId/webhooks';
  readonly needs: Permission;
  readonly label: string;
  /** The name by which the page finds it. */
  readonly find?: (event: AuditEvent) => string | null | undefined;
};

/** Pages by the part of an event name before the dot. */
const TARGETS: Readonly<Record<string, Target>> = {
  member: {
    to: '/teams/$teamId/members',
    needs: 'access_dashboard',
    label: words.open.member,
    find: ({ subject, actor }) => (subject ?? actor)?.name,
  },
  role: { to: '/teams/$teamId/roles', needs: 'access_dashboard', label: words.open.role },
  invitation: { to: '/teams/$teamId/invitations', needs: 'invite_members', label: words.open.invitation },
  api_key: {
    to: '/teams/$teamId/api-keys',
    needs: 'manage_api_keys',
    label: words.open.api_key,
    find: ({ target }) => target?.name,
  },
  webhook_endpoint: { to: '/teams/$teamId/webhooks', needs: 'edit_team_settings', label: words.open.webhook_endpoint },
};

/** Links to what an event names, and to the other events of its actor. */
export function EventLinks({ event }: { readonly event: AuditEvent }) {
  const { team, can } = useTeam();
  const target = TARGETS[event.event.split('.')[0] ?? ''];
  const q = target?.find?.(event);
  const { actor } = event;
  return (
    <Group gap="sm">
      {target !== undefined && can(target.needs) && (
        <TextLink to={target.to} params={{ teamId: team.slug }} search={typeof q === 'string' ? { q } : {}} size="sm">
          {target.label}
        </TextLink>
      )}
      {actor !== null && (
        <TextLink
          to="/teams/$teamId/audit"
          params={{ teamId: team.slug }}
          search={(previous) => ({ ...previous, person: actor.userId })}
          size="sm"
        >
          {words.onlyBy(actor.name ?? actor.userId)}
        </TextLink>
      )}
    </Group>
  );
}
