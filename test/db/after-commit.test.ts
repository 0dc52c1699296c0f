import { describe, expect } from 'vitest';
import { afterCommit } from '../../src/db/after-commit.ts';
import { within } from '../../src/transactions/transaction.ts';
import { test } from '../support/api.ts';

describe('what is to happen after a transaction', () => {
  test('happens once it is committed, and once', async ({ api }) => {
    const em = api.services.db.em();
    const happened: string[] = [];

    await em.transactional(async (tx) => {
      afterCommit(tx, () => happened.push('first'));
      await tx.execute('select 1');
      expect(happened).toEqual([]);
    });
    await em.transactional((tx) => tx.execute('select 1'));

    expect(happened).toEqual(['first']);
  });

  test('does not happen where it is rolled back', async ({ api }) => {
    const happened: string[] = [];

    const failing = api.services.db.em().transactional(async (tx) => {
      afterCommit(tx, () => happened.push('never'));
      await tx.execute('select 1 / 0');
    });

    await expect(failing).rejects.toThrow('division by zero');
    expect(happened).toEqual([]);
  });

  test('does not happen for a savepoint that is rolled back, and does for its transaction', async ({ api }) => {
    const happened: string[] = [];

    await api.services.db.em().transactional(async (tx) => {
      afterCommit(tx, () => happened.push('outer'));
      const failing = within(tx)
        .em()
        .transactional(async (inner) => {
          afterCommit(inner, () => happened.push('inner'));
          await inner.execute('select 1 / 0');
        });
      await expect(failing).rejects.toThrow('division by zero');
      await tx.execute('select 1');
    });

    expect(happened).toEqual(['outer']);
  });
});
