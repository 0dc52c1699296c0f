import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { invitationsOf } from './actions.ts';
import { useRosterClient } from './context.ts';
import { reload } from './reload.ts';
import { useSingleFlight } from './single-flight.ts';

/** What became of one email address. The link can be handed on, as long as it is shown. */
export type Invited = { readonly email: string } & (
  | { readonly state: 'waiting' | 'sending' }
  | { readonly state: 'sent'; readonly link: string }
  | { readonly state: 'failed'; readonly error: unknown }
);

type InvitedRole = { readonly roleId: string; readonly isSystemRole: boolean };

/** Invites email addresses one after another, each with a result of its own, and then reads the invitations once. */
export function useInviteMany(teamId: string) {
  const client = useRosterClient();
  const queries = useQueryClient();
  const [results, setResults] = useState<readonly Invited[]>([]);
  const [isPending, setPending] = useState(false);

  const settle = (result: Invited) =>
    setResults((current) => current.map((each) => (each.email === result.email ? result : each)));

  const invite = useSingleFlight(async ({ emails, role }: { emails: readonly string[]; role: InvitedRole }) => {
    const failed: string[] = [];
    setPending(true);
    // Keeps earlier results, so that their links can still be copied, unless the email is sent again.
    const again = new Set(emails.map((email) => email.toLowerCase()));
    setResults((current) => [
      ...current.filter(({ email, state }) => state === 'sent' && !again.has(email.toLowerCase())),
      ...emails.map((email): Invited => ({ email, state: 'waiting' })),
    ]);
    for (const email of emails) {
      settle({ email, state: 'sending' });
      try {
        const { roleId, isSystemRole } = role;
        const { link } = await client.invitations.create.mutate({ teamId, email, roleId, isSystemRole });
        settle({ email, state: 'sent', link });
      } catch (error) {
        failed.push(email);
        settle({ email, state: 'failed', error });
      }
    }
    setPending(false);
    void reload(queries, invitationsOf(teamId));
    return failed;
  });
  return {
    results,
    isPending,
    /** @returns the email addresses that could not be invited */
    invite: (emails: readonly string[], { roleId, isSystemRole }: InvitedRole) =>
      invite({ emails, role: { roleId, isSystemRole } }),
  };
}
