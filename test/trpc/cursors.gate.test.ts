import { expect } from 'vitest';
import type { z } from 'zod';
import { consoleReads } from '../../src/mcp/console-reads.ts';
import { createCursors } from '../../src/procedures/cursors.ts';
import { appRouter } from '../../src/router.ts';
import { test, type Api } from '../support/api.ts';
import { signedIn, type Visitor } from '../support/browser.ts';
import { outcomeOf } from './console.ts';

type Procedure = { readonly _def: { readonly inputs: readonly z.ZodType[] } };

const takesPlace = (input: unknown): boolean => {
  const shape = (input as { readonly shape?: object } | undefined)?.shape ?? {};
  return 'cursor' in shape || 'after' in shape;
};

/** All procedures that continue a list. */
const CONTINUED = [
  ...Object.entries(appRouter._def.procedures as unknown as Record<string, Procedure>) // flat by path
    .filter(([, { _def }]) => _def.inputs.some(takesPlace))
    .map(([path]) => path),
  ...consoleReads.filter(({ input }) => takesPlace(input)).map(({ operationId }) => `mcp ${operationId}`),
];

/** Positions by contract: in the one order of all events, for whichever filter and credential; or numbers of rows. */
const POSITIONS = [
  'events.list',
  'events.listAll',
  'events.listMine',
  'operatorApi.listEvents',
  'operatorApi.getImport',
  'mcp listTeamEvents',
];

type Page = { readonly nextCursor?: string | null; readonly nextAfter?: string | null };
type List = { readonly of: string; readonly read: (cursor?: string) => Promise<Page> };

const EMAIL = 'readable.address@example.com';

/** An operator who owns a team, and something in each list. */
async function aScene(api: Api) {
  const owner = await api.anAccount({ email: EMAIL });
  await api.rows(`update account set role = 'admin' where id = $1`, [owner.id]);
  await api.anAccount({ email: `${EMAIL}.org` });
  const team = await api.aTeam({ owner });
  for (let i = 0; i < 3; i++) {
    await api.aMember(team, await api.anAccount());
    await api.aTeam({ owner });
    await api.anApiKey(owner, { team });
    await api.anApiKey(owner);
  }
  const endpoints = ['whe_team', 'whe_all'] as const;
  for (const id of endpoints) {
    await api.rows(
      `insert into webhook_endpoint (id, created_at, url, types, secret, team_id, account_id)
       values ($1, now(), 'https://example.com/', '{}', $2, $3, $4)`,
      [
        id,
        api.services.encryption.encrypt('whsec_c2VjcmV0'),
        id === 'whe_team' ? team.id : null,
        id === 'whe_team' ? owner.id : null,
      ],
    );
    await api.rows(
      `insert into webhook_delivery (id, created_at, endpoint_id, event_id, event, state, due_at)
       select 'whd_' || $1 || n, now(), $1, 'evt_' || n, 'team.created', 'failed', now() from generate_series(1, 3) n`,
      [id],
    );
  }
  return { owner, team, keys: [await api.anOperatorKey(), await api.anOperatorKey()] as const };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

/** The lists that a key of the operator can continue, with other orders and filters as lists of their own. */
function listsOfKey(api: Api, key: Scene['keys'][number], { owner, team }: Scene): List[] {
  const operator = api.as(key);
  const list = (of: string, path: string): List => ({
    of: `operatorApi.${of}`,
    async read(cursor) {
      const more = cursor === undefined ? '' : `&cursor=${cursor}`;
      const { status, body } = await operator.get(`/operator/v1/${path}limit=1${more}`);
      if (status !== 200) throw new Error(body.code);
      return body;
    },
  });
  return [
    ...['', 'sort=-createdAt&', 'sort=email&', 'sort=-email&', 'email=r&'].map((query) =>
      list('listAccounts', `accounts?${query}`),
    ),
    ...['', 'sort=name&', 'planId=free&'].map((query) => list('listTeams', `teams?${query}`)),
    list('listMembers', `teams/${team.id}/members?`),
    list('listAccountApiKeys', `accounts/${owner.id}/api-keys?`),
    list('listTeamApiKeys', `teams/${team.id}/api-keys?`),
    ...['', 'state=failed&'].map((query) => list('listWebhookDeliveries', `webhooks/whe_all/deliveries?${query}`)),
  ];
}

/** The lists of the console. Pages of members and jobs are long, so their cursors are made. */
async function listsOfSession(api: Api, { trpc }: Visitor, { owner, team }: Scene): Promise<List[]> {
  const [session] = await api.rows<{ id: string }>(
    'select id from session where account_id = $1 order by id desc limit 1',
    [owner.id],
  );
  const cursors = createCursors(api.services, session?.id ?? '');
  const { operator } = trpc;
  const teamId = team.id;
  const of = (name: string, read: List['read']): List => ({ of: name, read });
  const at = (cursor: string | undefined) => ({ limit: 1, ...(cursor !== undefined && { cursor }) });
  return [
    of('operator.listAccounts', (cursor) => operator.listAccounts.query(at(cursor))),
    of('operator.listTeams', (cursor) => operator.listTeams.query(at(cursor))),
    of('operator.listMembers', (cursor) => operator.listMembers.query({ teamId, ...at(cursor) })),
    of('operator.keys', (cursor) => operator.keys.query({ of: 'team', id: teamId, ...at(cursor) })),
    of('operator.keys', (cursor) => operator.keys.query({ of: 'account', id: owner.id, ...at(cursor) })),
    of('operator.audit', (cursor) => operator.audit.query(at(cursor))),
    of('operator.audit', (cursor) => operator.audit.query({ accountId: owner.id, ...at(cursor) })),
    of('operator.members', async (cursor) => {
      if (cursor !== undefined) return operator.members.query({ teamId, cursor });
      return { nextCursor: cursors.write(['many members', teamId], { sort: '', id: '' }) };
    }),
    of('operator.jobs', async (after) => {
      if (after !== undefined) return operator.jobs.query({ after });
      return { nextAfter: cursors.write(['jobs', undefined], { sort: '', id: '0' }) };
    }),
    of('audit.list', (cursor) => trpc.audit.list.query({ teamId, ...at(cursor) })),
    of('audit.list', (cursor) => trpc.audit.list.query({ teamId, order: 'oldest', ...at(cursor) })),
    of('audit.list', (cursor) => trpc.audit.list.query({ teamId, kind: 'api_key', ...at(cursor) })),
    of('account.activity', (cursor) => trpc.account.activity.query(at(cursor))),
    of('webhooks.deliveries', (cursor) =>
      trpc.webhooks.deliveries.query({ teamId, endpointId: 'whe_team', ...at(cursor) }),
    ),
  ];
}

test('a cursor continues its list alone, for its credential, and shows nothing', async ({ api }) => {
  const scene = await aScene(api);
  const visitor = await signedIn(api, scene.owner);
  await visitor.trpc.updateTeam.mutate({ teamId: scene.team.id, name: 'Kites' });
  for (const name of ['One', 'Two', 'Three'])
    await visitor.trpc.createApiKey.mutate({ name, scopes: ['teams:read'], teamId: scene.team.id });
  const lists = [
    ...scene.keys.flatMap((key) => listsOfKey(api, key, scene)),
    ...(await listsOfSession(api, visitor, scene)),
  ];
  // The tool reads what `audit.list` reads.
  expect([...new Set(lists.map(({ of }) => of)), ...POSITIONS, 'mcp listTeamAuditLog'].toSorted()).toEqual(
    CONTINUED.toSorted(),
  );

  const cursors: string[] = [];
  for (const { of, read } of lists) {
    const { nextCursor, nextAfter } = await read();
    const cursor = nextCursor ?? nextAfter ?? '';
    expect(cursor, of).toMatch(/^[\w-]{40,}$/);
    const bytes = Buffer.from(cursor, 'base64url').toString('latin1');
    expect(bytes, of).not.toMatch(/readable|example|acc_|team_|evt_|mem_|whd_/);
    cursors.push(cursor);
  }
  const outcomes = await Promise.all(
    lists.map(async ({ read }) => {
      const answers: boolean[] = [];
      for (const cursor of cursors) {
        const outcome = await outcomeOf(read(cursor)).catch((error: Error) => error.message);
        answers.push(outcome === 'done' || (outcome === 'validation_failed' ? false : expect.fail(outcome)));
      }
      return answers;
    }),
  );
  expect(outcomes).toEqual(lists.map((_list, i) => cursors.map((_cursor, j) => i === j)));
});
