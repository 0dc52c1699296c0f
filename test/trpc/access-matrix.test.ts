import { describe, expect } from 'vitest';
import { PERMISSIONS, SCOPES } from '../../src/entities/index.ts';
import { inputOf } from '../../src/procedures/middlewares.ts';
import type { Meta } from '../../src/procedures/meta.ts';
import { apiRouter, appRouter } from '../../src/router.ts';
import type { AnyTRPCProcedure } from '@trpc/server';
import { test, type Api } from '../support/api.ts';
import { READS, TABLE, type Row } from './access-table.ts';
import { as, outcomeOf, withKey, type Trpc } from './console.ts';
import { aScene, INPUTS, type Build } from './mutations.ts';

const all = appRouter._def.procedures as unknown as Readonly<Record<string, AnyTRPCProcedure>>; // flat by path
const PROCEDURES = Object.entries(all)
  .filter(([name]) => !(name in apiRouter._def.procedures) && !name.startsWith('operatorApi.'))
  .map(([name, procedure]) => ({ name, procedure, access: (procedure._def.meta as Meta | undefined)?.access }));

/** Codes with which a caller is refused for who they are. */
const REFUSALS = [
  'credential_missing',
  'credential_invalid',
  'session_required',
  'scope_missing',
  'team_credential_refused',
  'permission_missing',
  'team_not_found',
  'route_not_found',
];

/** `allowed`, whatever became of the call, or the code with which the caller was refused. */
async function accessOf(trpc: Trpc, name: string, input: unknown): Promise<string> {
  const call = name.split('.').reduce((part: unknown, key) => (part as Record<string, unknown>)[key], trpc) as {
    query: (input: unknown) => Promise<unknown>;
    mutate: (input: unknown) => Promise<unknown>;
  }; // the client is a proxy of any path
  const isQuery = all[name]?._def.type === 'query';
  const outcome = await outcomeOf(isQuery ? call.query(input) : call.mutate(input));
  return REFUSALS.includes(outcome) ? outcome : 'allowed';
}

const someone = async (api: Api) => as(api, await api.anAccount());

async function anOperator(api: Api): Promise<Trpc> {
  const account = await api.anAccount();
  await api.rows(`update account set role = 'admin' where id = $1`, [account.id]);
  return as(api, account);
}

const keyOf = async (api: Api) => withKey(api, await api.anApiKey(await api.anAccount(), { scopes: SCOPES }));

/** A team with what the call is about, and how members of it, with permissions, its owner and others call. */
async function aTeam(api: Api, name: string) {
  const scene = await aScene(api);
  const given = READS[name] ?? INPUTS[name];
  const build = typeof given === 'function' ? given : (given?.['of a team'] as Build | undefined);
  const input = await build?.(scene);
  // An endpoint for all events needs further permissions.
  await api.rows(`update webhook_endpoint set types = '{team.updated}' where team_id = $1`, [scene.teamId]);
  const teamId = typeof input?.['teamId'] === 'string' ? input['teamId'] : scene.teamId;
  const team = { id: teamId };
  const owner = teamId === scene.teamId ? scene.caller : scene.other;
  return {
    owner,
    call: (trpc: Trpc) =>
      accessOf(trpc, name, name === 'webhooks.create' ? { ...input, types: ['team.updated'] } : input),
    member: async (permissions: readonly (typeof PERMISSIONS)[number][]) => {
      const account = await api.anAccount();
      await api.aMember(team, account, { role: (await api.aRole(team, permissions)).id });
      return as(api, account);
    },
  };
}

test('the table has every procedure that is no operation of the REST API or the operator API', () => {
  expect(Object.keys(TABLE).toSorted()).toEqual(PROCEDURES.map(({ name }) => name).toSorted());
  expect(PROCEDURES.length).toBeGreaterThan(130);

  for (const { name, access, procedure } of PROCEDURES) {
    const row = TABLE[name] as Row; // as compared above
    const declared =
      access === undefined
        ? 'anyone'
        : access.operatorOnly === true
          ? 'operator'
          : access.sessionOnly === true
            ? 'session'
            : [
                [access.scope, ...(access.otherScopes ?? [])],
                [access.permission, ...(access.otherPermissions ?? [])],
              ];
    const expected =
      'scopes' in row && row.scopes !== undefined
        ? [row.scopes, Array.isArray(row.who) ? row.who : [null]]
        : row.who === 'anyone' || row.who === 'operator'
          ? row.who
          : 'session';
    expect([name, declared]).toEqual([name, expected]);
    // What names a team is for some of its members. An authorization names the one that the application gets.
    const namesTeam = Object.keys(inputOf(procedure)?.shape ?? {}).includes('teamId');
    const answers = ['authorizations.approve', 'authorizations.continue'];
    if (namesTeam && row.who !== 'operator' && !answers.includes(name))
      expect([name, row.who]).not.toEqual([name, 'session']);
  }
});

const rowsOf = (isMatch: (row: Row) => boolean) =>
  Object.entries(TABLE)
    .filter(([, row]) => isMatch(row))
    .map(([name, row]) => ({ name, ...row }));

describe('what anybody calls', () => {
  test.for(rowsOf(({ who }) => who === 'anyone'))('$name', async ({ name }, { api }) => {
    expect(await accessOf(await keyOf(api), name, undefined)).toBe('allowed');
    expect(await accessOf(api.visitor().trpc, name, undefined)).toBe('allowed');
    expect(await accessOf(await someone(api), name, undefined)).toBe('allowed');
  });
});

describe('what is about the caller', () => {
  test.for(rowsOf(({ who }) => who === 'session' || who === 'profile'))('$name', async ({ name, who }, { api }) => {
    expect(await accessOf(api.visitor().trpc, name, undefined)).toBe('credential_missing');
    expect(await accessOf(await keyOf(api), name, undefined)).toBe(who === 'profile' ? 'allowed' : 'session_required');
    expect(await accessOf(await someone(api), name, undefined)).toBe('allowed');
  });
});

describe('what operators call', () => {
  test.for(rowsOf(({ who }) => who === 'operator'))('$name', async ({ name }, { api }) => {
    expect(await accessOf(api.visitor().trpc, name, undefined)).toBe('credential_missing');
    expect(await accessOf(await keyOf(api), name, undefined)).toBe('session_required');
    expect(await accessOf(await someone(api), name, undefined)).toBe('route_not_found');
    expect(await accessOf(await anOperator(api), name, undefined)).toBe('allowed');
  });
});

describe('what is about a team', () => {
  const ofTeams = rowsOf(({ who }) => who === 'member' || who === 'owner' || Array.isArray(who));

  test.for(ofTeams)('$name', async ({ name, who, ...row }, { api }) => {
    const scopes = 'scopes' in row ? row.scopes : undefined;
    const permissions = PERMISSIONS.filter((permission) => who.includes(permission));
    const first = await aTeam(api, name);

    expect(await first.call(api.visitor().trpc)).toBe('credential_missing');
    const key = async (held: readonly (typeof SCOPES)[number][]) =>
      withKey(api, await api.anApiKey(first.owner, { scopes: held }));
    if (scopes === undefined) expect(await first.call(await key(SCOPES))).toBe('session_required');
    for (const needed of scopes ?? [])
      expect(await first.call(await key(SCOPES.filter((scope) => scope !== needed)))).toBe('scope_missing');
    expect(await first.call(await someone(api))).toBe('team_not_found');
    expect(await first.call(await anOperator(api))).toBe('team_not_found');
    if (who === 'owner') expect(await first.call(await first.member(PERMISSIONS))).toBe('permission_missing');
    for (const needed of permissions) {
      const others = PERMISSIONS.filter((permission) => permission !== needed);
      expect(await first.call(await first.member(others))).toBe('permission_missing');
    }

    if (who === 'member') expect(await first.call(await first.member([]))).toBe('allowed');
    else expect(await first.call(await as(api, first.owner))).toBe('allowed');
    if (permissions.length > 0) {
      const second = await aTeam(api, name);
      // Whoever names a role or a member needs to see them.
      expect(await second.call(await second.member(['access_dashboard', ...permissions]))).toBe('allowed');
    }
    if (scopes !== undefined) {
      const third = await aTeam(api, name);
      expect(await third.call(withKey(api, await api.anApiKey(third.owner, { scopes })))).toBe('allowed');
    }
  });

  const ofInstallation = ofTeams.filter(({ name }) => name.startsWith('webhooks.'));
  test.for(ofInstallation)('$name of the installation is for operators', async ({ name }, { api }) => {
    const { input } = await (async () => {
      const scene = await aScene(api);
      const given = INPUTS[name];
      const build = typeof given === 'function' ? undefined : given?.['of the installation'];
      return { input: (await build?.(scene)) ?? { endpointId: 'nothing', teamId: null } };
    })();
    expect(await accessOf(api.visitor().trpc, name, input)).toBe('credential_missing');
    expect(await accessOf(await keyOf(api), name, input)).toBe('session_required');
    expect(await accessOf(await someone(api), name, input)).toBe('route_not_found');
    expect(await accessOf(await anOperator(api), name, input)).toBe('allowed');
  });
});
