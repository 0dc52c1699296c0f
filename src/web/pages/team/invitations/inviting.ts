import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toFailure, trpc, type Failure } from '../../../trpc.ts';
import { useTeam, type Role } from '../team.ts';
import { invitationsQuery } from './invitation.ts';

/** The result for one email. */
export type Result = { readonly email: string } & (
  | { readonly state: 'waiting' | 'sending' }
  | { readonly state: 'sent'; readonly link: string }
  | { readonly state: 'failed'; readonly failure: Failure }
);

/** Invites emails one after another. Each is a separate call that can fail independently. */
export function useInviting() {
  const { team } = useTeam();
  const queries = useQueryClient();
  const [results, setResults] = useState<readonly Result[]>([]);
  const [pending, setPending] = useState(false);

  const settle = (result: Result) =>
    setResults((current) => current.map((each) => (each.email === result.email ? result : each)));

  /** @returns the emails that failed */
  async function invite(emails: readonly string[], { roleId, isSystemRole }: Role): Promise<string[]> {
    const failed: string[] = [];
    setPending(true);
    // Keeps earlier results, so that their links can still be copied, unless the email is sent again.
    const again = new Set(emails.map((email) => email.toLowerCase()));
    setResults((current) => [
      ...current.filter(({ email, state }) => state === 'sent' && !again.has(email.toLowerCase())),
      ...emails.map((email): Result => ({ email, state: 'waiting' })),
    ]);
    for (const email of emails) {
      settle({ email, state: 'sending' });
      try {
        const { link } = await trpc.invitations.create.mutate({ teamId: team.id, email, roleId, isSystemRole });
        settle({ email, state: 'sent', link });
      } catch (error) {
        failed.push(email);
        settle({ email, state: 'failed', failure: toFailure(error) });
      }
    }
    setPending(false);
    void queries.invalidateQueries(invitationsQuery(team.id));
    return failed;
  }

  return { results, pending, invite };
}
