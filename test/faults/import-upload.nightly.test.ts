import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { account, aPrefix, membership, team } from '../cli/import-file.ts';
import { rosterOfItsOwn } from '../cli/roster.ts';
import { makeDataDir, removeDataDir, startService } from '../support/service.ts';

const { env, db, json: roster } = await rosterOfItsOwn();

const KILLS = 3;

// Guarantees that a crash of the service costs an import the time since its last batch, and nothing else.
test('an upload of 50,000 rows whose service is killed again and again imports and reports each row once', async () => {
  const dataDir = makeDataDir();
  onTestFinished(() => removeDataDir(dataDir));
  const start = async () => {
    const service = await startService({ env, dataDir });
    onTestFinished(() => service.kill('SIGKILL'));
    return service;
  };
  const { secret } = await roster<{ secret: string }>(
    'operator-key',
    'create',
    '--name',
    'Import',
    '--scopes',
    'accounts:write,teams:write,billing:write',
  );
  const authorization = `Bearer ${secret}`;
  const p = aPrefix();
  const rows = Array.from({ length: 25_000 }, (_, i) => [
    account(`${p}${i}`, i % 1000 === 7 ? { email: 'bad' } : {}),
    membership(`${p}t`, `${p}${i}`),
  ]).flat();
  const body = [team(`${p}t`, `${p}0`), ...rows].map((row) => `${JSON.stringify(row)}\n`).join('');

  let service = await start();
  const uploaded = await fetch(`${service.url}/operator/v1/imports`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/x-ndjson' },
    body,
  });
  const { id } = (await uploaded.json()) as { id: string };
  expect(uploaded.status).toBe(202);

  const imported = async () => {
    const [row] = await db.run<{ accounts: number; memberships: number }>(
      {
        kind: 'command',
        name: '',
        text: `select (select count(*)::int from account where external_id like $1) as accounts,
          (select count(*)::int from membership m join team t on t.id = m.team_id where t.external_id like $1) as memberships`,
      },
      [`${p}%`],
    );
    return row ?? { accounts: 0, memberships: 0 };
  };
  for (let kills = 0, before = 0; kills < KILLS; kills += 1) {
    for (let now = before; now < before + 3000;) {
      await sleep(20);
      const { accounts, memberships } = await imported();
      now = accounts + memberships;
    }
    service.kill('SIGKILL');
    await service.exited;
    const { accounts, memberships } = await imported();
    before = accounts + memberships;
    service = await start();
  }

  type Report = {
    finishedAt: string | null;
    imported: object;
    existing: number;
    refused: number;
    refusals: { line: number }[];
  };
  const report = async () => {
    const answer = await fetch(`${service.url}/operator/v1/imports/${id}?limit=1000`, { headers: { authorization } });
    return (await answer.json()) as Report;
  };
  await expect.poll(async () => (await report()).finishedAt, { interval: 200, timeout: 120_000 }).not.toBeNull();

  const { imported: counts, existing, refused, refusals } = await report();
  expect([counts, existing, refused]).toEqual([
    // The owner of the team is a member of it by its row.
    { accounts: 24_975, teams: 1, memberships: 24_974, apiKeys: 0 },
    1,
    50,
  ]);
  expect(new Set(refusals.map(({ line }) => line)).size).toBe(50);
  expect(await imported()).toEqual({ accounts: 24_975, memberships: 24_975 });
}, 240_000);
