import type { AnyTRPCProcedure } from '@trpc/server';
import { describe, expect } from 'vitest';
import { SECRET_KINDS, type SecretKind } from '../../src/crypto/tokens.ts';
import { apiRouter } from '../../src/router.ts';
import type { Meta } from '../../src/procedures/meta.ts';
import { test } from '../support/api.ts';
import type { Sent } from '../support/client.ts';
import {
  A_MINUTE_AGO,
  allBut,
  aWorld,
  expectAlike,
  expectRefusals,
  expectSuccesses,
  forAnotherTeam,
  forTheTeam,
  INVALID,
  lacks,
  MISSING,
  NO_PERMISSION,
  NO_TEAM,
  prepare,
  tooLongIds,
  withBody,
  without,
  WRONG_AUDIENCE,
  type Attempt,
  type Expectations,
  type Standing,
} from './attempts.ts';
import { KINDS } from './kinds.ts';
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
  const expired: Attempt = {
    credential: async (api, { caller }, kind) =>
      (await kind.make(api, caller, { scopes: ALL_SCOPES, expiresAt: A_MINUTE_AGO })).secret,
  };
  const revoked: Attempt = {
    credential: async (api, { caller }, kind) => {
      const { id, secret } = await kind.make(api, caller, { scopes: ALL_SCOPES });
      await api.rows(`update ${kind.table} set revoked_at = now() where id = $1`, [id]);
      return secret;
    },
  };
  const disabled: Attempt = {
    credential: async (api, { team }, kind) => {
      const account = await api.anAccount();
      await api.aMember(team, account, { role: 'member' });
      await api.rows('update account set disabled_at = now() where id = $1', [account.id]);
      return (await kind.make(api, account, { scopes: ALL_SCOPES })).secret;
    },
  };
  /** The access token of a living grant, after a change in its row. */
  const tokenWith = (change: string): Attempt => ({
    bearer: async (api, { caller }) => {
      const { id, secret } = await api.aGrant(caller, { scopes: ALL_SCOPES });
      await api.rows(`update oauth_token set ${change} where grant_id = $1`, [id]);
      return secret;
    },
  });
  const expiredToken = tokenWith(`expires_at = now() - interval '1 s'`);
  const unknown = (kind: SecretKind): Attempt => ({
    bearer: async ({ services }) => services.tokens.generate(kind).secret,
  });
  /** A secret that something else goes by, even where its hash were that of a living access token. */
  const ofOtherUse = (kind: SecretKind): Attempt => ({
    bearer: async (api, { caller }) => {
      const { id } = await api.aGrant(caller, { scopes: ALL_SCOPES });
      const { secret, hash } = api.services.tokens.generate(kind);
      await api.rows('update oauth_token set token_hash = $2 where grant_id = $1', [id, hash]);
      return secret;
    },
  });
  const garbage: Attempt = { bearer: async () => 'garbage' };
  const authorized = (authorization: string | string[]) => (sent: Sent) => ({
    ...sent,
    headers: { ...sent.headers, authorization },
  });
  const unauthorized = (sent: Sent) => ({ ...sent, headers: { 'content-type': 'application/json' } });

  test.for(OPERATIONS)('$id', async (operation, { api }) => {
    await expectRefusals(api, operation, {
      'no credential': [MISSING, { change: unauthorized }],
      'token in the query': [
        MISSING,
        { change: (sent, secret) => unauthorized({ ...sent, path: `${sent.path}?access_token=${secret}` }) },
      ],
      garbage: [INVALID, garbage],
      'empty Bearer': [INVALID, { change: authorized('Bearer ') }],
      'wrong checksum': [
        INVALID,
        {
          change: (sent, secret) =>
            authorized(`Bearer ${secret.slice(0, -1)}${secret.endsWith('a') ? 'b' : 'a'}`)(sent),
        },
      ],
      'unknown key': [INVALID, unknown('personalKey')],
      'unknown team key': [INVALID, unknown('teamKey')],
      'unknown access token': [INVALID, unknown('accessToken')],
      'another kind of secret': [INVALID, unknown('refreshToken')],
      expired: [INVALID, expired],
      'expired token of a living grant': [INVALID, expiredToken],
      revoked: [INVALID, revoked],
      'of a disabled account': [INVALID, disabled],
      'two credentials': [
        INVALID,
        { change: (sent, secret) => authorized([`Bearer ${secret}`, `Bearer ${secret}`])(sent) },
      ],
      'Basic scheme': [INVALID, { change: (sent, secret) => authorized(`Basic ${secret}`)(sent) }],
    });
  });

  test('every invalid credential gets the same error, whatever the reason', async ({ api }) => {
    const kinds = Object.keys(SECRET_KINDS) as SecretKind[]; // Object.keys widens them to string
    const others = kinds.filter((kind) => kind !== 'accessToken');

    const answers = await expectRefusals(api, operationOf('getTeam'), {
      garbage: [INVALID, garbage],
      expired: [INVALID, expired],
      revoked: [INVALID, revoked],
      'of a disabled account': [INVALID, disabled],
      'expired token': [INVALID, expiredToken],
      'token that is bound to a key': [INVALID, tokenWith(`thumbprint = 'a thumbprint'`)],
      'token of the kind refresh': [INVALID, tokenWith(`kind = 'refresh'`)],
      'token of the kind code': [INVALID, tokenWith(`kind = 'code'`)],
      'unknown key': [INVALID, unknown('personalKey')],
      'unknown access token': [INVALID, unknown('accessToken')],
      ...Object.fromEntries(others.map((kind) => [kind, [INVALID, ofOtherUse(kind)] as const])),
    });

    expectAlike(answers);
  });

  test.for(KINDS)(
    '$name: the scheme is case-insensitive, and what is not a single token is refused',
    async (kind, { api }) => {
      const { secret } = await kind.make(api, await api.anAccount(), { scopes: ['teams:read'] });
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
    },
  );
});

describe('the required scope is necessary, and no other one is', () => {
  test.for(scoped)('$method $path: 403 with all scopes but $scope', async (operation, { api }) => {
    const { scope } = operation;
    const credential = { credential: without(scope) };
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
      Object.fromEntries(others.map((scope) => [scope, { credential: without(scope) }])),
    );
  });
});

describe('a team credential is kept to its team', () => {
  test.for(accountLevel)('$method $path: 403 for a team credential', async (operation, { api }) => {
    const { scope } = operation;
    const isAccountOnly = ACCOUNT_ONLY_SCOPES.some((only) => only === scope);
    const unreachable = isAccountOnly ? lacks(scope ?? '') : WRONG_AUDIENCE;
    // No key for a team can be made with such a scope. A grant can have been issued with it, and never holds it;
    // the scope comes before the audience.
    const refusal = { key: WRONG_AUDIENCE, grant: unreachable };
    const every = { credential: forTheTeam(ALL_SCOPES) };

    await expectRefusals(api, operation, {
      'for the team': [unreachable, { credential: forTheTeam() }],
      'for the team, with every scope': [refusal, every],
      'of a former member': [refusal, { ...every, standing: 'inactive' }],
      'the body is not valid': [refusal, { ...every, change: (sent) => withBody(sent, '{"name":7}') }],
      'an id is too long': [refusal, { ...every, ids: tooLongIds }],
    });
  });

  test.for(OPERATIONS.filter(({ accountLevel }) => !accountLevel))(
    '$id: allowed to a credential for this team',
    async (operation, { api }) => {
      await expectSuccesses(api, operation, { 'for the team': { credential: forTheTeam() } });
    },
  );

  test.for(KINDS)(
    '$name: listTeams shows a team credential its team alone, and nothing once the membership has ended',
    async (kind, { api }) => {
      const account = await api.anAccount();
      const [team] = await Promise.all([api.aTeam({ owner: account }), api.aTeam({ owner: account })]);
      const credential = await kind.make(api, account, { scopes: ['teams:read'], team });

      expect((await api.as(credential).get('/api/v1/teams')).body).toMatchObject([{ id: team.id }]);
      await api.rows('update membership set is_active = false where account_id = $1', [account.id]);
      expect((await api.as(credential).get('/api/v1/teams')).body).toEqual([]);
    },
  );
});

describe('a team that the caller cannot see is a team that does not exist', () => {
  test.for(addressingTeams)('$method $path', async (operation, { api }) => {
    const forTeams: Expectations = {
      'for another team of theirs': [NO_TEAM, { credential: forAnotherTeam }],
      'for the team, inactive': [NO_TEAM, { credential: forTheTeam(), standing: 'inactive' }],
      'for the team, expired': [NO_TEAM, { credential: forTheTeam(), standing: 'expired' }],
      'for the team, unknown team': [NO_TEAM, { credential: forTheTeam(), ids: { teamId: 'team_unknown' } }],
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
    const team = { credential: forTheTeam() };

    await expectRefusals(api, operation, {
      guest: [NO_PERMISSION, { standing: 'guest' }],
      ...(memberMay ? {} : { member: [NO_PERMISSION, { standing: 'member' }] }),
      'every other permission': [NO_PERMISSION, { standing: allBut(ALL_PERMISSIONS, permission) }],
      ...(operation.accountLevel ? {} : { 'for the team, guest': [NO_PERMISSION, { ...team, standing: 'guest' }] }),
    });
    await expectSuccesses(api, operation, {
      owner: {},
      'this permission alone': { standing: [permission] },
      ...(memberMay ? { member: { standing: 'member' } as const } : {}),
      ...(operation.accountLevel ? {} : { 'for the team, this permission alone': { ...team, standing: [permission] } }),
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

  test.for(KINDS)(
    '$name: listTeamInvitations answers an empty list to whoever lacks invite_members',
    async (kind, { api }) => {
      const list = async (standing: Standing) => {
        const sent = await prepare(api, operationOf('listTeamInvitations'), {}, await aWorld(api, standing), kind);
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
    },
  );
});

test('the specification and the router list the same 20 operations', () => {
  // Nested routers are there under the paths of their procedures, which their type does not say.
  const built = Object.values(apiRouter._def.procedures) as unknown as AnyTRPCProcedure[];
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
