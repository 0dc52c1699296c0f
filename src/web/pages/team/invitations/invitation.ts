import type { invitationsTexts as words } from '../../../messages/invitations.ts';
import type { Outputs } from '../../../trpc.ts';

export type Invitation = Outputs['invitations']['list'][number];

/** Returns whether an invitation can be accepted. An email that failed can be sent again until the link expires. */
export function getInvitationState({ isExpired, emailFailure }: Invitation): keyof typeof words.states {
  if (isExpired) return 'expired';
  return emailFailure === null ? 'pending' : 'failed';
}
