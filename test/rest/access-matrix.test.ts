import type { AnyTRPCProcedure } from '@trpc/server';
import { describe, expect } from 'vitest';
import { appRouter } from '../../src/router.ts';
import type { Meta } from '../../src/rpc/trpc.ts';
import { test, type Api } from '../support/api.ts';
import type { Sent } from '../support/client.ts';
import {
  A_MINUTE_AGO,
  allBut,
  aWorld,
  expectAlike,
  expectRefusals,
  expectSuccesses,
  INVALID,
  lacks,
  MISSING,
  NO_PERMISSION,
  NO_TEAM,
  otherTeamKey,
  prepare,
  teamKey,
  tooLongIds,
  withBody,
  without,
  WRONG_AUDIENCE,
  type Expectations,
  type Standing,
  type World,
} from './attempts.ts';
import {
  ACCOUNT_ONLY_SCOPES,
  ALL_PERMISSIONS,
  ALL_SCOPES,
  KEYS_OF_A_TEAM,
  operationOf,
  OPERATIONS,
} from './operations.ts';

const addressingTeams = [...OPERATIONS.filter(({ path }) => path.includes('{teamId}')), ...KEYS_OF_A_TEAM];
const accountLevel = [...OPERATIONS, ...KEYS_OF_A_TEAM].filter((operation) => operation.accountLevel);
const scoped = [...OPERATIONS, ...KEYS_OF_A_TEAM].flatMap((operation) =>
  operation.scope === null ? [] : { ...operation, scope: operation.scope },
);

describe('without a valid credential the answer is 401, and nothing changes', () => {
  const personal =
    (options: Parameters<Api['anApiKey']>[1]) =>
    async (api: Api, { caller }: World) =>
      (await api.anApiKey(caller, { scopes: ALL_SCOPES, ...options })).secret;
  const authorized = (authorization: string | string[]) => (sent: Sent) => ({
    ...sent,
    headers: { ...sent.headers, authorization },
  });
  const unauthorized = (sent: Sent) => ({ ...sent, headers: { 'content-type': 'application/json' } });
  const disabled = async (api: Api, { team }: World) => {
    const account = await api.anAccount();
    await api.aMember(team, account, { role: 'member' });
    await api.rows('update account set disabled_at = now() where id = $1', [account.id]);
    return (await api.anApiKey(account, { scopes: ALL_SCOPES })).secret;
  };

  test.for(OPERATIONS)('$id', async (operation, { api }) => {
    await expectRefusals(api, operation, {
      'no credential': [MISSING, { change: unauthorized }],
      'token in the query': [
        MISSING,
        { change: (sent, secret) => unauthorized({ ...sent, path: `${sent.path}?access_token=${secret}` }) },
      ],
      garbage: [INVALID, { secret: async () => 'garbage' }],
      'empty Bearer': [INVALID, { change: authorized('Bearer ') }],
      'wrong checksum': [
        INVALID,
        {
          change: (sent, secret) =>
            authorized(`Bearer ${secret.slice(0, -1)}${secret.endsWith('a') ? 'b' : 'a'}`)(sent),
        },
      ],
      'unknown key': [INVALID, { secret: async ({ services }) => services.secrets.mint('personalKey').secret }],
      'unknown team key': [INVALID, { secret: async ({ services }) => services.secrets.mint('teamKey').secret }],
      'another kind of secret': [
        INVALID,
        { secret: async ({ services }) => services.secrets.mint('refreshToken').secret },
      ],
      'expired key': [INVALID, { secret: personal({ expiresAt: A_MINUTE_AGO }) }],
      'revoked key': [INVALID, { secret: personal({ revoked: true }) }],
      'key of a disabled account': [INVALID, { secret: disabled }],
      'two credentials': [
        INVALID,
        { change: (sent, secret) => authorized([`Bearer ${secret}`, `Bearer ${secret}`])(sent) },
      ],
      'Basic scheme': [INVALID, { change: (sent, secret) => authorized(`Basic ${secret}`)(sent) }],
    });
  });

  test('every refusal of a credential reads the same, whatever is wrong with it', async ({ api }) => {
    const attempts = {
      garbage: [INVALID, { secret: async () => 'garbage' }],
      unknown: [INVALID, { secret: async () => api.services.secrets.mint('personalKey').secret }],
      expired: [INVALID, { secret: personal({ expiresAt: A_MINUTE_AGO }) }],
      revoked: [INVALID, { secret: personal({ revoked: true }) }],
      disabled: [INVALID, { secret: disabled }],
    } satisfies Expectations;

    expectAlike(await expectRefusals(api, operationOf('getTeam'), attempts));
  });

  test('the scheme is case-insensitive, and what is not a single token is refused', async ({ api }) => {
    const { secret } = await api.anApiKey(await api.anAccount());
    const statusOf = async (authorization: string) =>
      (await api.anonymous.send({ method: 'GET', path: '/api/v1/credential', headers: { authorization } })).status;

    const accepted = [`bearer ${secret}`, `BEARER ${secret}`, `Bearer   ${secret}`, `Bearer ${secret} `];
    const refused = [
      'Bearer',
      `Bearer ${secret} ${secret}`,
      `Bearer ${secret},`,
      `Bearer\t${secret}`,
      `Bearer"${secret}"`,
      secret,
      ` ${secret}`,
    ];

    expect(await Promise.all(accepted.map(statusOf))).toEqual(accepted.map(() => 200));
    expect(await Promise.all(refused.map(statusOf))).toEqual(refused.map(() => 401));
  });
});

describe('the required scope is necessary, and no other one is', () => {
  test.for(scoped)('$method $path: 403 with all scopes but $scope', async (operation, { api }) => {
    const { scope } = operation;
    const credential = { secret: without(scope) };
    const nowhere = { ...credential, ids: { teamId: 'team_unknown', keyId: 'key_unknown' } };

    const answers = await expectRefusals(api, operation, {
      'the team is theirs': [lacks(scope), credential],
      'the team is not theirs': [lacks(scope), { ...credential, standing: 'stranger' }],
      'the team does not exist': [lacks(scope), nowhere],
      'an id is too long': [lacks(scope), { ...credential, ids: tooLongIds }],
      'the body is not valid': [lacks(scope), { ...credential, change: (sent) => withBody(sent, '{"name":7}') }],
      'the body is no JSON': [lacks(scope), { ...credential, change: (sent) => withBody(sent, '{') }],
      'the body is text': [lacks(scope), { ...credential, change: (sent) => withBody(sent, '{}', 'text/plain') }],
    });

    expectAlike(answers);
  });

  test.for(OPERATIONS)('$id: allowed whichever other scope is missing', async (operation, { api }) => {
    const others = allBut(ALL_SCOPES, operation.scope);

    await expectSuccesses(
      api,
      operation,
      Object.fromEntries(others.map((scope) => [scope, { secret: without(scope) }])),
    );
  });
});

describe('a team credential is kept to its team', () => {
  test.for(accountLevel)('$method $path: 403 for a team credential', async (operation, { api }) => {
    const { scope } = operation;
    const isAccountOnly = ACCOUNT_ONLY_SCOPES.some((only) => only === scope);
    const forced = teamKey(ALL_SCOPES);

    await expectRefusals(api, operation, {
      // A team key cannot hold the scope in the first place, and scopes come before the audience.
      'team key': [isAccountOnly ? lacks(scope ?? '') : WRONG_AUDIENCE, { secret: teamKey() }],
      'team key with the scope': [WRONG_AUDIENCE, { secret: forced }],
      'of a former member': [WRONG_AUDIENCE, { secret: forced, standing: 'inactive' }],
      'the body is not valid': [WRONG_AUDIENCE, { secret: forced, change: (sent) => withBody(sent, '{"name":7}') }],
      'an id is too long': [WRONG_AUDIENCE, { secret: forced, ids: tooLongIds }],
    });
  });

  test.for(OPERATIONS.filter(({ accountLevel }) => !accountLevel))(
    '$id: allowed to a key of this team',
    async (operation, { api }) => {
      await expectSuccesses(api, operation, { 'team key': { secret: teamKey() } });
    },
  );

  test('listTeams shows a team credential its team alone, and nothing once the membership has ended', async ({
    api,
  }) => {
    const account = await api.anAccount();
    const [team] = await Promise.all([api.aTeam({ owner: account }), api.aTeam({ owner: account })]);
    const key = await api.anApiKey(account, { team });

    expect((await api.as(key).get('/api/v1/teams')).body).toMatchObject([{ id: team.id }]);
    await api.rows('update membership set is_active = false where account_id = $1', [account.id]);
    expect((await api.as(key).get('/api/v1/teams')).body).toEqual([]);
  });
});

describe('a team that the caller cannot see is a team that does not exist', () => {
  test.for(addressingTeams)('$method $path', async (operation, { api }) => {
    const forTeams: Expectations = {
      'key of another team of theirs': [NO_TEAM, { secret: otherTeamKey }],
      'team key, inactive': [NO_TEAM, { secret: teamKey(), standing: 'inactive' }],
      'team key, expired': [NO_TEAM, { secret: teamKey(), standing: 'expired' }],
      'team key, unknown team': [NO_TEAM, { secret: teamKey(), ids: { teamId: 'team_unknown' } }],
    };

    const answers = await expectRefusals(api, operation, {
      'unknown team': [NO_TEAM, { ids: { teamId: 'team_unknown' } }],
      'unknown in another shape': [NO_TEAM, { ids: { teamId: '-1' } }],
      stranger: [NO_TEAM, { standing: 'stranger' }],
      inactive: [NO_TEAM, { standing: 'inactive' }],
      expired: [NO_TEAM, { standing: 'expired' }],
      ...(operation.accountLevel ? {} : forTeams),
    });

    expectAlike(answers);
  });
});

describe('beside the scope, the role has to hold the permission', () => {
  const demanding = addressingTeams.flatMap((operation) =>
    operation.permission === null ? [] : { ...operation, permission: operation.permission },
  );

  test.for(demanding)('$method $path: needs $permission and no other', async (operation, { api }) => {
    const { permission } = operation;
    const memberMay = permission === 'access_dashboard';
    const team = { secret: teamKey() };

    await expectRefusals(api, operation, {
      guest: [NO_PERMISSION, { standing: 'guest' }],
      ...(memberMay ? {} : { member: [NO_PERMISSION, { standing: 'member' }] }),
      'every other permission': [NO_PERMISSION, { standing: allBut(ALL_PERMISSIONS, permission) }],
      ...(operation.accountLevel ? {} : { 'team key of a guest': [NO_PERMISSION, { ...team, standing: 'guest' }] }),
    });
    await expectSuccesses(api, operation, {
      owner: {},
      'this permission alone': { standing: [permission] },
      ...(memberMay ? { member: { standing: 'member' } as const } : {}),
      ...(operation.accountLevel ? {} : { 'team key with the permission': { ...team, standing: [permission] } }),
    });
  });

  test.for(OPERATIONS.filter(({ permission }) => permission === null))(
    '$id: needs none',
    async (operation, { api }) => {
      const members: readonly Standing[] = ['guest', 'member', 'owner', []];
      const strangers: readonly Standing[] = operation.path.includes('{teamId}')
        ? []
        : ['stranger', 'inactive', 'expired'];
      const attempts = [...members, ...strangers].map((standing) => [String(standing), { standing }] as const);

      await expectSuccesses(api, operation, Object.fromEntries(attempts));
    },
  );

  test('listTeamInvitations answers an empty list to whoever lacks invite_members', async ({ api }) => {
    const list = async (standing: Standing) => {
      const sent = await prepare(api, operationOf('listTeamInvitations'), {}, await aWorld(api, standing));
      return (await api.anonymous.send(sent)).body.length as number;
    };

    const standings = [
      'guest',
      'member',
      allBut(ALL_PERMISSIONS, 'invite_members'),
      ['invite_members'],
      'owner',
    ] as const;
    expect(await Promise.all(standings.map(list))).toEqual([0, 0, 0, 1, 1]);
  });
});

test('the specification and the router list the same 20 operations', () => {
  // Nested routers are there under the paths of their procedures, which their type does not say.
  const built = Object.values(appRouter._def.procedures) as unknown as AnyTRPCProcedure[];
  const procedures = built.map((procedure) => procedure._def.meta as Meta | undefined);
  const served = procedures.flatMap((meta) => {
    if (meta?.openapi === undefined) return [];
    const { openapi, access, status } = meta;
    const { operationId: id, method, path } = openapi;
    return {
      id,
      method,
      path,
      scope: access?.scope,
      status,
      accountLevel: access?.accountLevel,
      permission: access?.permission,
    };
  });
  const byId = (a: { id?: string | undefined }, b: { id?: string | undefined }) =>
    (a.id ?? '').localeCompare(b.id ?? '');

  expect(OPERATIONS).toHaveLength(20);
  expect(served.toSorted(byId)).toEqual(
    OPERATIONS.map((operation) => ({ ...operation, body: undefined })).toSorted(byId),
  );
});
