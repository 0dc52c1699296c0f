import { useCallback, useState } from 'react';
import { useAccount, useTeams } from './queries.ts';

const storageKey = (accountId: string) => `roster-team:${accountId}`;

/**
 * The state of a team switcher: the teams, and the selected one, which the browser remembers for each account. A team
 * that the user has left is no longer selected; then, and at first, it is the first team.
 */
export function useTeamSwitcher() {
  const account = useAccount();
  const teams = useTeams();
  const accountId = account.data?.id;
  const [chosen, setChosen] = useState<string | null>(null);
  const remembered = chosen ?? (accountId === undefined ? null : read(accountId));
  const select = useCallback(
    (teamId: string) => {
      setChosen(teamId);
      if (accountId !== undefined) write(accountId, teamId);
    },
    [accountId],
  );
  const all = teams.data ?? [];
  return {
    teams: all,
    team: all.find(({ id }) => id === remembered) ?? all[0] ?? null,
    select,
    isPending: account.isPending || teams.isPending,
    error: account.error ?? teams.error,
  };
}

// Storage can be switched off: then nothing is remembered.
function read(accountId: string): string | null {
  try {
    return localStorage.getItem(storageKey(accountId));
  } catch {
    return null;
  }
}

function write(accountId: string, teamId: string): void {
  try {
    localStorage.setItem(storageKey(accountId), teamId);
  } catch {
    // as above
  }
}
