import { describe, expect } from 'vitest';
import { appRouter } from '../../src/router.ts';
import type { Meta } from '../../src/rpc/trpc.ts';
import { test, type Api } from '../support/api.ts';
import type { Answer, Sent } from '../support/client.ts';
import {
  ACCOUNT_ONLY_SCOPES,
  ALL_PERMISSIONS,
  ALL_SCOPES,
  KEYS_OF_A_TEAM,
  operationOf,
  OPERATIONS,
  type Operation,
} from './operations.ts';

const METADATA = 'resource_metadata="http://localhost:3000/.well-known/oauth-protected-resource/api/v1"';
const MISSING = `401 credential_missing, Bearer ${METADATA}`;
const INVALID = `401 credential_invalid, Bearer error="invalid_token", ${METADATA}`;
const lacks = (scope: string) => `403 scope_missing, Bearer error="insufficient_scope", scope="${scope}", ${METADATA}`;
const WRONG_AUDIENCE = '403 team_credential_refused';
const NO_PERMISSION = '403 permission_missing';
const INVALID_INPUT = '400 validation_failed';
const UNREADABLE = '415 unsupported_media_type';
const NO_TEAM = '404 team_not_found';

type Permission = (typeof ALL_PERMISSIONS)[number];
type Standing = 'stranger' | 'inactive' | 'expired' | 'guest' | 'member' | 'owner' | readonly Permission[];
type World = {
  readonly caller: { readonly id: string };
  readonly team: { readonly id: string };
  readonly ids: Readonly<Record<string, string>>;
};
/** One call, described by what is different from the owner's, whose key is personal and holds every scope. */
type Attempt = {
  readonly standing?: Standing;
  readonly ids?: Readonly<Record<string, string>>;
  readonly secret?: (api: Api, world: World) => Promise<string>;
  readonly change?: (sent: Sent, secret: string) => Sent;
};
type Expectations = Readonly<Record<string, readonly [outcome: string, attempt: Attempt]>>;

const teamOperations = OPERATIONS.filter(({ path }) => path.includes('{teamId}'));
const addressingTeams = [...teamOperations, ...KEYS_OF_A_TEAM];
const accountOperations = OPERATIONS.filter(({ accountLevel }) => accountLevel);
const withScope = OPERATIONS.flatMap((operation) => (operation.scope === null ? [] : { ...operation, scope: operation.scope }));
const TEAM_SCOPES = ALL_SCOPES.filter((scope) => !ACCOUNT_ONLY_SCOPES.some((only) => only === scope));
const TOO_LONG = 'x'.repeat(256);
const tooLongIds = { teamId: TOO_LONG, userId: TOO_LONG, sessionId: TOO_LONG, keyId: TOO_LONG, invitationId: TOO_LONG };
const A_MINUTE_AGO = new Date(Date.now() - 60_000);

const allBut = <T>(all: readonly T[], one: T | null) => all.filter((entry) => entry !== one);

/** A team with one of everything in it, and an account whose standing in the team is the case. */
async function aWorld(api: Api, standing: Standing): Promise<World> {
  const caller = await api.anAccount();
  const team = await api.aTeam({ owner: standing === 'owner' ? caller : await api.anAccount() });
  const target = await api.anAccount();
  const [session, key, invitation] = await Promise.all([
    api.aSession(caller),
    api.anApiKey(caller),
    api.anInvitation(team),
    api.aMember(team, target),
    join(api, team, caller, standing),
  ]);
  return {
    caller,
    team,
    ids: { teamId: team.id, userId: target.id, sessionId: session.id, keyId: key.id, invitationId: invitation.id },
  };
}

async function join(api: Api, team: { id: string }, caller: { id: string }, standing: Standing): Promise<void> {
  if (standing === 'owner' || standing === 'stranger') return;
  // Whoever is inactive or expired would hold every permission.
  const permissions = typeof standing === 'string' ? ALL_PERMISSIONS : standing;
  const role = standing === 'guest' || standing === 'member' ? standing : (await api.aRole(team, permissions)).id;
  const expiresAt = standing === 'expired' ? A_MINUTE_AGO : null;
  await api.aMember(team, caller, { role, active: standing !== 'inactive', expiresAt });
}

async function prepare(api: Api, operation: Operation, attempt: Attempt, world: World): Promise<Sent> {
  const { ids, secret = everyScope, change } = attempt;
  const fill = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids?.[name] ?? world.ids[name] ?? name);
  const bearer = await secret(api, world);
  const sent = { method: operation.method, path: fill(operation.path), headers: { authorization: `Bearer ${bearer}` } };
  const whole = operation.body === undefined ? sent : withBody(sent, fill(JSON.stringify(operation.body)));
  return change?.(whole, bearer) ?? whole;
}

const withBody = (sent: Sent, body: string, type = 'application/json'): Sent => ({
  ...sent,
  headers: { ...sent.headers, 'content-type': type },
  body,
});

const everyScope = async (api: Api, { caller }: World) => (await api.anApiKey(caller, { scopes: ALL_SCOPES })).secret;

const without = (scope: (typeof ALL_SCOPES)[number] | null) => async (api: Api, { caller }: World) =>
  (await api.anApiKey(caller, { scopes: allBut(ALL_SCOPES, scope) })).secret;

const teamKey =
  (scopes: readonly (typeof ALL_SCOPES)[number][] = TEAM_SCOPES) =>
  async (api: Api, { caller, team }: World) =>
    (await api.anApiKey(caller, { scopes, team })).secret;

const otherTeamKey = async (api: Api, { caller }: World) => {
  const team = await api.aTeam({ owner: caller });
  return (await api.anApiKey(caller, { scopes: TEAM_SCOPES, team })).secret;
};

/**
 * Makes all the calls at once and expects what became of each.
 * @param isWriting each call then gets a world of its own; otherwise those of one standing share theirs
 */
async function callAll(api: Api, operation: Operation, expectations: Expectations, isWriting: boolean) {
  const names = Object.keys(expectations);
  const shared = new Map<string, Promise<World>>();
  const worldOf = async ({ standing = 'owner' }: Attempt) => {
    if (isWriting) return aWorld(api, standing);
    const world = shared.get(String(standing)) ?? aWorld(api, standing);
    shared.set(String(standing), world);
    return world;
  };
  const calls = await Promise.all(
    Object.values(expectations).map(async ([, attempt]) => prepare(api, operation, attempt, await worldOf(attempt))),
  );
  const before = await fingerprint(api);
  const answers = await Promise.all(calls.map((sent) => api.anonymous.send(sent)));
  expect(Object.fromEntries(names.map((name, i) => [name, outcomeOf(answers[i])]))).toEqual(
    Object.fromEntries(names.map((name) => [name, expectations[name]?.[0]])),
  );
  return { answers, before, after: await fingerprint(api) };
}

async function expectRefusals(api: Api, operation: Operation, expectations: Expectations): Promise<Answer[]> {
  const { answers, before, after } = await callAll(api, operation, expectations, false);
  expect(after).toEqual(before);
  return answers;
}

async function expectSuccesses(api: Api, operation: Operation, attempts: Readonly<Record<string, Attempt>>): Promise<void> {
  const outcome = String(operation.status);
  const expectations = Object.entries(attempts).map(([name, attempt]) => [name, [outcome, attempt] as const] as const);
  const isWriting = operation.method !== 'GET';
  const { before, after } = await callAll(api, operation, Object.fromEntries(expectations), isWriting);
  // That a write shows here is what makes the silence of the refusals mean something.
  if (isWriting) expect(after).not.toEqual(before);
  else expect(after).toEqual(before);
}

function outcomeOf(answer: Answer | undefined): string {
  const { status = 0, headers = {}, body } = answer ?? {};
  const challenge = headers['www-authenticate'];
  return [status < 400 ? status : `${status} ${body.code}`, ...(challenge === undefined ? [] : [challenge])].join(', ');
}

/** Every table with a checksum of its rows, except for when keys were last used. */
async function fingerprint(api: Api): Promise<unknown> {
  const tables = await api.rows<{ name: string }>(
    `select table_schema || '.' || quote_ident(table_name) as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE' order by name`,
  );
  const sums = [...tables.map(({ name }) => name), 'graphile_worker.jobs'].map(
    (name) => `select '${name}' as name, count(*), sum(hashtextextended((to_jsonb(t) - 'last_used_at')::text, 0)) from ${name} t`,
  );
  return api.rows(sums.join(' union all '));
}

/** An answer without what is about the request alone. */
function comparable({ status, headers, body }: Answer) {
  const own = ['x-request-id', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'date'];
  return {
    status,
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !own.includes(name))),
    body: { ...body, requestId: undefined },
  };
}

function expectAlike(answers: readonly Answer[]): void {
  const [first, ...others] = answers.map(comparable);
  for (const other of others) expect(other).toEqual(first);
}

describe('without a valid credential the answer is 401, and nothing changes', () => {
  const personal = (options: Parameters<Api['anApiKey']>[1]) => async (api: Api, { caller }: World) =>
    (await api.anApiKey(caller, { scopes: ALL_SCOPES, ...options })).secret;
  const authorized = (authorization: string | string[]) => (sent: Sent) => ({ ...sent, headers: { ...sent.headers, authorization } });
  const unauthorized = ({ headers: { authorization: _, ...headers } = {}, ...sent }: Sent): Sent => ({ ...sent, headers });
  const disabled = async (api: Api, { team }: World) => {
    const account = await api.anAccount();
    await api.aMember(team, account, { role: 'member' });
    await api.rows('update account set disabled_at = now() where id = $1', [account.id]);
    return (await api.anApiKey(account, { scopes: ALL_SCOPES })).secret;
  };

  test.for(OPERATIONS)('$id', async (operation, { api }) => {
    await expectRefusals(api, operation, {
      'no credential': [MISSING, { change: unauthorized }],
      'token in the query': [MISSING, { change: (sent, secret) => unauthorized({ ...sent, path: `${sent.path}?access_token=${secret}` }) }],
      garbage: [INVALID, { secret: async () => 'garbage' }],
      'empty Bearer': [INVALID, { change: authorized('Bearer ') }],
      'wrong checksum': [INVALID, { change: (sent, secret) => authorized(`Bearer ${secret.slice(0, -1)}${secret.endsWith('a') ? 'b' : 'a'}`)(sent) }],
      'unknown key': [INVALID, { secret: async ({ services }) => services.secrets.mint('personalKey').secret }],
      'unknown team key': [INVALID, { secret: async ({ services }) => services.secrets.mint('teamKey').secret }],
      'another kind of secret': [INVALID, { secret: async ({ services }) => services.secrets.mint('refreshToken').secret }],
      'expired key': [INVALID, { secret: personal({ expiresAt: A_MINUTE_AGO }) }],
      'revoked key': [INVALID, { secret: personal({ revoked: true }) }],
      'key of a disabled account': [INVALID, { secret: disabled }],
      'two credentials': [INVALID, { change: (sent, secret) => authorized([`Bearer ${secret}`, `Bearer ${secret}`])(sent) }],
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
    const refused = ['Bearer', `Bearer ${secret} ${secret}`, `Bearer ${secret},`, `Bearer\t${secret}`, `Bearer"${secret}"`, secret, ` ${secret}`];

    expect(await Promise.all(accepted.map(statusOf))).toEqual(accepted.map(() => 200));
    expect(await Promise.all(refused.map(statusOf))).toEqual(refused.map(() => 401));
  });
});

describe('the required scope is necessary, and no other one is', () => {
  test.for(withScope)('$id: 403 with all scopes but $scope', async (operation, { api }) => {
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

    await expectSuccesses(api, operation, Object.fromEntries(others.map((scope) => [scope, { secret: without(scope) }])));
  });
});

describe('a team credential is kept to its team', () => {
  test.for(accountOperations)('$id: 403 for a team credential', async (operation, { api }) => {
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

  test.for(OPERATIONS.filter(({ accountLevel }) => !accountLevel))('$id: allowed to a key of this team', async (operation, { api }) => {
    await expectSuccesses(api, operation, { 'team key': { secret: teamKey() } });
  });

  test('listTeams shows a team credential its team alone, and nothing once the membership has ended', async ({ api }) => {
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

  test.for(OPERATIONS.filter(({ permission }) => permission === null))('$id: needs none', async (operation, { api }) => {
    const members: readonly Standing[] = ['guest', 'member', 'owner', []];
    const strangers: readonly Standing[] = operation.path.includes('{teamId}') ? [] : ['stranger', 'inactive', 'expired'];
    const attempts = [...members, ...strangers].map((standing) => [String(standing), { standing }] as const);

    await expectSuccesses(api, operation, Object.fromEntries(attempts));
  });

  test('listTeamInvitations answers an empty list to whoever lacks invite_members', async ({ api }) => {
    const list = async (standing: Standing) => {
      const sent = await prepare(api, operationOf('listTeamInvitations'), {}, await aWorld(api, standing));
      return (await api.anonymous.send(sent)).body.length as number;
    };

    const standings = ['guest', 'member', allBut(ALL_PERMISSIONS, 'invite_members'), ['invite_members'], 'owner'] as const;
    expect(await Promise.all(standings.map(list))).toEqual([0, 0, 0, 1, 1]);
  });
});

describe('the input is checked after scope and audience, and before the team', () => {
  const someId = OPERATIONS.filter(({ path }) => path.includes('{'));
  const someBody = OPERATIONS.filter(({ body }) => body !== undefined);

  test.for([...someId, ...KEYS_OF_A_TEAM])('$method $path: 400 for an id that is too long', async (operation, { api }) => {
    await expectRefusals(api, operation, {
      owner: [INVALID_INPUT, { ids: tooLongIds }],
      'nobody at all': [MISSING, { ids: tooLongIds, change: ({ headers: _, ...sent }) => sent }],
    });
  });

  test.for(['removeTeamMember', 'revokeTeamInvitation'])('%s: 400 for an id that is too long in an unknown team', async (id, { api }) => {
    await expectRefusals(api, operationOf(id), {
      'unknown team': [INVALID_INPUT, { ids: { ...tooLongIds, teamId: 'team_unknown' } }],
      'no permission': [INVALID_INPUT, { ids: { userId: TOO_LONG, invitationId: TOO_LONG }, standing: 'guest' }],
    });
  });

  test.for([...someBody, ...KEYS_OF_A_TEAM.slice(1)])('$method $path: 400 for a body that is not valid', async (operation, { api }) => {
    const invalid = (sent: Sent) => withBody(sent, '{"name":7}');
    const unknown = { teamId: 'team_unknown', keyId: 'key_unknown' };

    await expectRefusals(api, operation, {
      owner: [INVALID_INPUT, { change: invalid }],
      guest: [INVALID_INPUT, { change: invalid, standing: 'guest' }],
      stranger: [INVALID_INPUT, { change: invalid, standing: 'stranger' }],
      'unknown team': [INVALID_INPUT, { change: invalid, ids: unknown }],
      'unknown team, no JSON': ['400 malformed_json', { change: (sent) => withBody(sent, '{'), ids: unknown }],
      'unknown team, text': [UNREADABLE, { change: (sent) => withBody(sent, '{}', 'text/plain'), ids: unknown }],
    });
  });
});

describe('what only the data of a team can show is told last', () => {
  const everything = (body: object): Attempt => ({ change: (sent) => withBody(sent, JSON.stringify(body)) });
  const email = 'ada@example.com';

  test('createTeamInvitation: permission, then role, then whether it may be granted', async ({ api }) => {
    const unknownRole = everything({ email, roleId: 'role_unknown' });
    const mismatch = everything({ email, roleId: 'guest', isSystemRole: false });
    const owner = everything({ email, roleId: 'owner' });
    const beyond = everything({ email, roleId: 'member' });

    await expectRefusals(api, operationOf('createTeamInvitation'), {
      'no permission, unknown role': [NO_PERMISSION, { ...unknownRole, standing: 'member' }],
      'no permission, mismatch': [NO_PERMISSION, { ...mismatch, standing: 'member' }],
      'no permission, owner': [NO_PERMISSION, { ...owner, standing: 'member' }],
      'invisible, unknown role': [NO_TEAM, { ...unknownRole, standing: 'stranger' }],
      'unknown role': [INVALID_INPUT, unknownRole],
      mismatch: [INVALID_INPUT, mismatch],
      owner: ['403 role_not_assignable', owner],
      'more than one holds': ['403 role_not_assignable', { ...beyond, standing: ['invite_members'] }],
    });
  });

  test('createApiKey: permission, then account-only scopes, then scopes not held', async ({ api }) => {
    const [, createTeamKey] = KEYS_OF_A_TEAM;
    const asking = (...scopes: string[]): Attempt => ({
      change: (sent) => withBody(sent, JSON.stringify({ ...JSON.parse(String(sent.body)), scopes })),
      secret: without('billing:read'),
    });

    await expectRefusals(api, createTeamKey ?? operationOf('createApiKey'), {
      'invisible team': [NO_TEAM, { ...asking('profile:read', 'billing:read'), standing: 'stranger' }],
      'no permission': [NO_PERMISSION, { ...asking('profile:read', 'billing:read'), standing: 'member' }],
      'account-only and not held': ['403 scope_account_only', asking('profile:read', 'billing:read')],
      'not held': ['403 scope_not_allowed', asking('teams:read', 'billing:read')],
    });
  });
});

test('the specification and the router list the same 20 operations', () => {
  const procedures = Object.values(appRouter._def.procedures).map((procedure) => procedure._def.meta as Meta | undefined);
  const served = procedures.flatMap((meta) => {
    if (meta?.openapi === undefined) return [];
    const { openapi, access, status } = meta;
    const { operationId: id, method, path } = openapi;
    return { id, method, path, scope: access?.scope, status, accountLevel: access?.accountLevel, permission: access?.permission };
  });
  const byId = (a: { id?: string | undefined }, b: { id?: string | undefined }) => (a.id ?? '').localeCompare(b.id ?? '');

  expect(OPERATIONS).toHaveLength(20);
  expect(served.toSorted(byId)).toEqual(OPERATIONS.map(({ body: _, ...row }) => row).toSorted(byId));
});
