import { getTargetLabel } from '../../components/role-label.ts';
import { accountTexts } from '../../messages/account.ts';
import { auditTexts } from '../../messages/audit.ts';
import { OwnWords } from '../../messages/define-texts.ts';
import type { Outputs } from '../../trpc.ts';

type OwnEvent = Outputs['account']['activity']['events'][number];
type Names = Readonly<Record<'actor' | 'subject' | 'target', string | OwnWords>>;

const OWN: Readonly<Partial<Record<string, string>>> = accountTexts.events;
const OF_TEAMS: Readonly<Partial<Record<string, (names: Names) => string>>> = auditTexts.sentences;

/** Puts an event about the user’s account into words. Those of teams are worded as in their audit logs. */
export function describeOwnEvent(ownEvent: OwnEvent, name: string): string {
  const { event, isOwn, actorKind, target } = ownEvent;
  // Others act in a session or with a key. Who they are is in the audit log of the team.
  const isPerson = actorKind === 'session' || actorKind === 'api_key';
  const actor = isOwn ? name : new OwnWords(isPerson ? accountTexts.activity.others : auditTexts.actors[actorKind]);
  return (
    OWN[event] ??
    OF_TEAMS[event]?.({ actor, subject: name, target: getTargetLabel(ownEvent) ?? new OwnWords(target?.id ?? '') }) ??
    auditTexts.other({ actor, event })
  );
}
