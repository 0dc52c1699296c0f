import { Badge, Text } from '@mantine/core';
import { useDates } from '../../../components/dates.ts';
import { TextLink } from '../../../components/links.tsx';
import { auditTexts as words } from '../../../messages/audit.ts';
import { useTeam } from '../team.ts';
import type { AuditEvent } from './event.ts';
import { EventLinks } from './event-links.tsx';

type Names = { readonly actor: string; readonly subject: string; readonly target: string };

const SENTENCES: Readonly<Partial<Record<string, (names: Names) => string>>> = words.sentences;

/** An event as a sentence, with its time, IP address and request ID. */
export function EventRow({ event }: { readonly event: AuditEvent }) {
  const { minute } = useDates();
  const { actor, subject, target, actorKind, credentialName, keyId, address, count } = event;
  const actorName = actor === null ? words.actors[actorKind] : toName(actor.name, actor.userId);
  const names = {
    actor: actorName,
    subject: subject === null ? actorName : toName(subject.name, subject.userId),
    target: target === null ? '' : toName(target.name, target.id),
  };
  const sentence = SENTENCES[event.event]?.(names) ?? words.other({ actor: actorName, event: event.event });
  return (
    <li className="row">
      <div className="row-text">
        <Text fw={500} className="wrap">
          <bdi>{sentence}</bdi>
        </Text>
        <Text size="sm" c="dimmed" className="wrap">
          <time dateTime={event.occurredAt}>{minute(event.occurredAt)}</time>
          {credentialName !== null && ', '}
          {credentialName !== null && <FilterLink name="key" value={keyId} text={words.withKey(credentialName)} />}
          {actorKind === 'oauth_grant' && `, ${words.withApplication}`}
          {address !== null && ', '}
          {address !== null && <FilterLink name="address" value={address} text={words.from(address)} />}
        </Text>
        {event.requestId !== null && (
          <Text size="xs" c="dimmed" className="wrap">
            {words.request(event.requestId)}
          </Text>
        )}
        <EventLinks event={event} />
      </div>
      {count > 1 && (
        <Badge variant="light" color="gray" tt="none">
          {words.times(count)}
        </Badge>
      )}
    </li>
  );
}

/** Returns the id if the resource no longer exists, and so has no name. */
const toName = (name: string | null, id: string): string => name ?? words.deleted(id);

type FilterLinkProps = { readonly name: 'key' | 'address'; readonly value: string | null; readonly text: string };

/** Shows only events with the same key or address. */
function FilterLink({ name, value, text }: FilterLinkProps) {
  const { team } = useTeam();
  if (value === null) return text;
  return (
    <TextLink
      to="/teams/$teamId/audit"
      params={{ teamId: team.slug }}
      search={(previous) => ({ ...previous, [name]: value })}
    >
      {text}
    </TextLink>
  );
}
