import { Badge, Group, Text } from '@mantine/core';
import { getTargetLabel } from '../../../components/role-label.ts';
import { auditTexts as words } from '../../../messages/audit.ts';
import { OwnWords } from '../../../messages/define-texts.ts';
import type { AuditEvent } from './event.ts';
import { EventNoun, type Role } from './event-noun.tsx';

type Names = Readonly<Record<Role, string | OwnWords>>;

const SENTENCES: Readonly<Partial<Record<string, (names: Names) => string>>> = words.sentences;

/** Returns an event as a sentence. */
export const describeEvent = (event: AuditEvent): string => toSentence(event, namesIn(event));

const toSentence = ({ event }: AuditEvent, names: Names): string =>
  SENTENCES[event]?.(names) ?? words.other({ actor: names.actor, event });

function namesIn(event: AuditEvent): Names {
  const { actor, subject, actorKind } = event;
  const actorName = actor === null ? new OwnWords(words.actors[actorKind]) : toName(actor.name, actor.accountId);
  return {
    actor: actorName,
    subject: subject === null ? actorName : toName(subject.name, subject.accountId),
    target: isOfGoneInvitation(event)
      ? new OwnWords(words.someone)
      : toName(getTargetLabel(event), event.target?.id ?? ''),
  };
}

/** Returns the id if the resource no longer exists, and so has no name. */
const toName = (name: string | null, id: string): string | OwnWords => name ?? new OwnWords(words.deleted(id));

/** The email of an invitation is a person’s, and is not kept for longer than the invitation. */
const isOfGoneInvitation = ({ event, target }: AuditEvent): boolean =>
  event.startsWith('invitation.') && target?.name === null;

/** What stands for the names while a sentence is divided at them: characters that no text contains. */
const MARKS: Readonly<Record<Role, string>> = { actor: '\uE000', subject: '\uE001', target: '\uE002' };
const ROLES = new Map(Object.entries(MARKS).map(([role, mark]) => [mark, role as Role])); // the names of MARKS

/** An event as a sentence, in which the names lead to what they name. */
export function EventCell({ event }: { readonly event: AuditEvent }) {
  const names = namesIn(event);
  const mark = (role: Role) => (names[role] instanceof OwnWords ? new OwnWords(MARKS[role]) : MARKS[role]);
  const marks = { actor: mark('actor'), subject: mark('subject'), target: mark('target') };
  const parts = toSentence(event, marks).split(/([\uE000-\uE002])/u);
  return (
    <>
      <Group gap="xs">
        <Text fw={500} size="sm" className="wrap">
          <bdi>
            {parts.map((part, index) => {
              const role = ROLES.get(part);
              // eslint-disable-next-line react/no-array-index-key -- the parts of a sentence have no other name
              return role === undefined ? part : <EventNoun key={index} event={event} role={role} name={names[role]} />;
            })}
          </bdi>
        </Text>
        {event.count > 1 && (
          <Badge variant="light" color="gray" tt="none">
            {words.times(event.count)}
          </Badge>
        )}
      </Group>
      {isOfGoneInvitation(event) && event.target !== null && (
        <Text size="xs" c="dimmed" className="wrap">
          {words.goneInvitation(event.target.id)}
        </Text>
      )}
    </>
  );
}
