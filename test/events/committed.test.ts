import { describe, expect } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { runAsStored, storedActor } from '../../src/events/actor.ts';
import { onEventRecorded } from '../../src/events/wake.ts';
import { updateTeam, updateTeamDetails } from '../../src/resources/teams/teams.service.ts';
import type { TeamCaller } from '../../src/transactions/caller.ts';
import { joined } from '../../src/transactions/steps.ts';
import { startApi, testWith } from '../support/api.ts';
import { inChange } from '../support/in-change.ts';

const test = testWith(() => startApi());

type Rename = (db: Database, caller: TeamCaller, name: string) => Promise<unknown>;

const RENAMES: Readonly<Record<string, Rename>> = {
  'of one statement': updateTeam,
  'of several': (db, caller, name) => updateTeamDetails(db, caller, caller.teamId, { name }),
};

// Calls with an `Idempotency-Key` and tools make their changes in one that is open.
describe.each(Object.entries(RENAMES))('a change %s, made in an open one', (_, rename) => {
  test.for(['commits', 'fails'])(
    'is logged and announced if the open one %s, and not before',
    async (ends, { api }) => {
      const owner = await api.anAccount();
      const { id: teamId } = await api.aTeam({ owner });
      const caller = { teamId, accountId: owner.id, credential: null };
      const said: string[] = [];
      const stop = onEventRecorded(api.services.db, () => said.push('announced'));
      const audit = (event: string) => said.push(event);

      const { db } = api.services;
      const made = runAsStored(storedActor(), audit, () =>
        inChange(db, async (tx) => {
          await rename(joined(db, tx), caller, 'Other');
          said.push('made');
          if (ends === 'fails') throw new Error('fails');
        }),
      );
      const [outcome] = await Promise.allSettled([made]);
      stop();

      expect(outcome.status).toBe(ends === 'fails' ? 'rejected' : 'fulfilled');
      expect(said[0]).toBe('made');
      expect(said.slice(1).toSorted()).toEqual(ends === 'fails' ? [] : ['announced', expect.stringMatching(/^team\./)]);
    },
  );
});
