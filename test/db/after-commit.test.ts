import { describe, expect } from 'vitest';
import { test } from '../support/api.ts';

describe('what is to happen after a transaction', () => {
  test('happens once it is committed, and once', async ({ api }) => {
    const { db } = api.services;
    const happened: string[] = [];

    await db.transact(async ({ em, onCommit }) => {
      onCommit(() => happened.push('first'));
      await em.execute('select 1');
      expect(happened).toEqual([]);
    });
    await db.transact(({ em }) => em.execute('select 1'));

    expect(happened).toEqual(['first']);
  });

  test('does not happen where it is rolled back', async ({ api }) => {
    const happened: string[] = [];

    const failing = api.services.db.transact(async ({ em, onCommit }) => {
      onCommit(() => happened.push('never'));
      await em.execute('select 1 / 0');
    });

    await expect(failing).rejects.toThrow('division by zero');
    expect(happened).toEqual([]);
  });
});
