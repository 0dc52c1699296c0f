import { Badge, Group, Text } from '@mantine/core';
import { auditTexts as words } from '../../../messages/audit.ts';
import type { AuditEvent } from './event.ts';
import { EventLinks } from './event-links.tsx';

type Names = { readonly actor: string; readonly subject: string; readonly target: string };

const SENTENCES: Readonly<Partial<Record<string, (names: Names) => string>>> = words.sentences;

/** Returns an event as a sentence. */
export function describeEvent({ event, actor, subject, target, actorKind }: AuditEvent): string {
  const actorName = actor === null ? words.actors[actorKind] : toName(actor.name, actor.userId);
  const names = {
    actor: actorName,
    subject: subject === null ? actorName : toName(subject.name, subject.userId),
    target: target === null ? '' : toName(target.name, target.id),
  };
  return SENTENCES[event]?.(names) ?? words.other({ actor: actorName, event });
}

/** Returns the id if the resource no longer exists, and so has no name. */
const toName = (name: string | null, id: string): string => name ?? words.deleted(id);

/** An event as a sentence, with links to what it names. */
export const EventCell = ({ event }: { readonly event: AuditEvent }) => (
  <>
    <Group gap="xs">
      <Text fw={500} size="sm" className="wrap">
        <bdi>{describeEvent(event)}</bdi>
      </Text>
      {event.count > 1 && (
        <Badge variant="light" color="gray" tt="none">
          {words.times(event.count)}
        </Badge>
      )}
    </Group>
    <EventLinks event={event} />
  </>
);
