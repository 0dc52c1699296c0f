import { describe, expect } from 'vitest';
import type { Command } from '../../src/db/query.ts';
import { onEventRecorded } from '../../src/events/wake.ts';
import { Team } from '../../src/entities/index.ts';
import { ProblemError } from '../../src/problems/error.ts';
import { change } from '../../src/transactions/change.ts';
import type { Change } from '../../src/transactions/steps.ts';
import { test, type Api } from '../support/api.ts';
import { inChange } from '../support/in-change.ts';

/** A statement that is not among those of the service, which are all declared. */
const unlisted = <Row>(name: string, text: string): Command<Row> => ({ kind: 'command', name, text });

const rename = unlisted<never>('rename', 'update team set name = $2 where id = $1');
const describeSelf = unlisted<{ pid: number; xid: string }>(
  'describe_self',
  'select pg_backend_pid() as pid, pg_current_xact_id()::text as xid',
);

const stateOf = async (api: Api, teamId: string) => ({
  name: (await api.rows<{ name: string }>('select name from team where id = $1', [teamId]))[0]?.name,
  events: await api.rows('select event from audit_event where team_id = $1', [teamId]),
});

/** Ways in which a part of a change fails, each caught by `work`. */
const FAILURES: Readonly<Record<string, (tx: Change) => Promise<unknown>>> = {
  'a named statement': (tx) => tx.run([[unlisted('fail', 'select 1 / 0'), []]]),
  'a statement of the entity manager': (tx) => tx.em.execute('select 1 / 0'),
  'a flush': async (tx) => {
    for (const name of ['One', 'Two']) tx.em.create(Team, { name, slug: 'same' });
    await tx.run([]);
  },
  'a change that it made': (tx) =>
    change(tx, 'system', { on: 'installation', requires: 'nothing' }, () => {
      throw new ProblemError('permission_missing');
    }),
};

describe('a change of which a part fails', () => {
  test.for(Object.entries(FAILURES))(
    'ends with all of it, also if the error is caught: %s',
    async ([, fail], { api }) => {
      const { db } = api.services;
      const { id } = await api.aTeam({ name: 'Before' });
      let announced = 0;
      const stop = onEventRecorded(db, () => (announced += 1));

      const made = inChange(db, async (tx) => {
        await tx.run([[rename, [id, 'After']]]);
        tx.record('team.renamed', { teamId: id });
        let failed = false;
        await fail(tx).catch(() => (failed = true));
        expect(failed).toBe(true);
      });

      await expect(made).rejects.toThrow(/./);
      stop();
      expect(await stateOf(api, id)).toEqual({ name: 'Before', events: [] });
      expect(announced).toBe(0);
      await inChange(db, (tx) => tx.run([[rename, [id, 'Again']]]));
      expect((await stateOf(api, id)).name).toBe('Again');
    },
  );
});

describe('an open change', () => {
  test('cannot be used once it was refused', async ({ api }) => {
    const { id } = await api.aTeam({ name: 'Before' });
    const late = Promise.withResolvers<void>();
    let written: Promise<unknown> = Promise.resolve();

    const refused = inChange(api.services.db, async (tx) => {
      await tx.run([[describeSelf, []]]);
      written = late.promise.then(() => tx.run([[rename, [id, 'Late']]]));
      throw new Error('refused');
    });
    await expect(refused).rejects.toThrow('refused');
    late.resolve();

    await expect(written).rejects.toThrow('The transaction has ended.');
    expect(await stateOf(api, id)).toEqual({ name: 'Before', events: [] });
  });

  test('cannot be used in the transaction that has its connection next', async ({ api }) => {
    const { db } = api.services;
    let ended: Change | undefined;
    await inChange(db, async (tx) => {
      ended = tx;
      await tx.run([[describeSelf, []]]);
    });
    await inChange(db, async (tx) => {
      await tx.run([[describeSelf, []]]);
      await expect(ended?.run([[describeSelf, []]])).rejects.toThrow('The transaction has ended.');
      expect(() => ended?.later([describeSelf, []])).toThrow('The transaction has ended.');
      await expect(ended?.em.find(Team, {}, { limit: 1 })).rejects.toThrow('The transaction has ended.');
    });
  });
});
