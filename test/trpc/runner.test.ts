import type * as Run from '../../src/procedures/run.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SCOPES } from '../../src/entities/index.ts';
import { appRouter } from '../../src/router.ts';
import { startApi, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';

const runner = vi.hoisted(() => ({ isOwn: true }));

vi.mock('../../src/procedures/run.ts', async (importOriginal) => {
  const { createRunner, ...others } = await importOriginal<typeof Run>();
  return {
    ...others,
    createRunner: (procedure: Parameters<typeof createRunner>[0]) => {
      const run = createRunner(procedure);
      const runByTrpc = procedure as unknown as typeof run; // how tRPC's own adapters call it
      return (options: Parameters<typeof run>[0]) => (runner.isOwn ? run(options) : runByTrpc(options));
    },
  };
});

const PROCEDURES = Object.entries(appRouter._def.procedures as unknown as Record<string, { _def: { type: string } }>)
  .map(([name, { _def }]) => ({ name, isQuery: _def.type === 'query' }))
  // Queries first, and last the procedures that take access away from the caller.
  .toSorted((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));

function rank({ name, isQuery }: { name: string; isQuery: boolean }): number {
  if (isQuery) return 0;
  if (/^(?:auth|account)\./.test(name)) return 3;
  return /delete|revoke|remove|leave|transfer|sign|end/i.test(name) ? 2 : 1;
}

type Answer = { readonly call: string; readonly status: number; readonly body: string };

/** Calls every procedure without a credential, with a key and with a session, each with invalid and with plausible input. */
async function answersOf(api: Api): Promise<Answer[]> {
  const owner = await api.anAccount();
  const team = await api.aTeam({ owner });
  const member = await api.anAccount();
  await api.aMember(team, member);
  const key = await api.anApiKey(owner, { scopes: [...SCOPES] });
  const { cookies, headers } = await signedIn(api, owner);
  const callers: Record<string, Record<string, string>> = {
    anonymous: headers,
    key: { authorization: `Bearer ${key.secret}` },
    session: { ...headers, cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
  };
  const plausible = {
    teamId: team.id,
    userId: member.id,
    keyId: key.id,
    roleId: 'member',
    replacementRoleId: 'guest',
    isSystemRole: true,
    email: 'somebody@example.com',
    name: 'A name',
    firstName: 'Ada',
    lastName: 'Lovelace',
    description: 'A text',
    permissions: [],
    scopes: ['teams:read'],
    expiresInDays: 30,
    password: 'a long enough password',
    token: 'unknown',
  };
  const answers: Answer[] = [];
  for (const { name, isQuery } of PROCEDURES) {
    for (const [caller, sent] of Object.entries(callers)) {
      for (const [kind, input] of Object.entries({
        none: undefined,
        invalid: { teamId: 1, email: 1, name: 1 },
        plausible,
      })) {
        const json = JSON.stringify(input);
        const query = isQuery && json !== undefined ? `?input=${encodeURIComponent(json)}` : '';
        const response = await fetch(`http://127.0.0.1:${api.port}/trpc/${name}${query}`, {
          method: isQuery ? 'GET' : 'POST',
          headers: { ...sent, ...(!isQuery && { 'content-type': 'application/json' }) },
          ...(!isQuery && json !== undefined && { body: json }),
        });
        const body = withoutRandomness(await response.text());
        answers.push({ call: `${name} by ${caller} with ${kind} input`, status: response.status, body });
      }
    }
  }
  return answers;
}

/** Replaces ids, tokens, times and generated names, which differ between two instances. */
const withoutRandomness = (body: string): string =>
  body
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<uuid>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    // Uses are written some time later.
    .replaceAll('"lastUsedAt":null', '"lastUsedAt":"<time>"')
    .replaceAll(/"(keyPrefix|last4)":"\w+"/g, '"$1":"<random>"')
    .replaceAll(/"[^"]*[\w-]{16,}[^"]*"/g, '"<long>"')
    .replaceAll(/[\w.+-]+@[\w.-]+/g, '<email>');

// Guarantees that access control, which our runner calls, behaves as with tRPC's own (docs/decisions/0023).
test(
  'every procedure answers the same through our runner as through the one of tRPC',
  { timeout: 240_000 },
  async () => {
    const run = async (isOwn: boolean) => {
      const api = await startApi();
      onTestFinished(() => api.close());
      runner.isOwn = isOwn;
      return answersOf(api);
    };
    const own = await run(true);
    const byTrpc = await run(false);

    const differences = own.flatMap((answer, i) =>
      JSON.stringify(answer) === JSON.stringify(byTrpc[i]) ? [] : [[answer, byTrpc[i]]],
    );
    expect(differences).toEqual([]);
    const count = (status: number) => own.filter((answer) => answer.status === status).length;
    for (const status of [200, 400, 401, 403, 404]) expect(count(status), `answers with ${status}`).toBeGreaterThan(20);
  },
);
