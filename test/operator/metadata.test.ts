import pg from 'pg';
import { describe, expect, vi } from 'vitest';
import { newId } from '../../src/entities/index.ts';
import { test, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { headersOf } from '../pictures/sender.ts';
import { ALL_SCOPES } from '../rest/operations.ts';
import { numberEvents } from '../webhooks/receiver.ts';

const EMPTY = { public: {}, private: {}, version: 0 };
const ACCOUNTS = '/operator/v1/accounts';
const TEAMS = '/operator/v1/teams';

/** A team with a member, and where the metadata of each is. */
async function aScene(api: Api) {
  const operator = api.as(await api.anOperatorKey());
  const [owner, member] = [await api.anAccount(), await api.anAccount()];
  const team = await api.aTeam({ owner });
  await api.aMember(team, member);
  const paths = {
    account: `${ACCOUNTS}/${member.id}/metadata`,
    team: `${TEAMS}/${team.id}/metadata`,
    membership: `${TEAMS}/${team.id}/members/${member.id}/metadata`,
  };
  return { operator, owner, member, team, paths };
}
type Scene = Awaited<ReturnType<typeof aScene>>;

/** Sends a body as it is, because `JSON.stringify` cannot write every JSON. */
const patchRaw = (
  { operator, paths }: Scene,
  body: string,
  headers: Record<string, string> = { 'content-type': 'application/merge-patch+json' },
) => operator.send({ method: 'PATCH', path: paths.team, headers, body });

const KINDS = ['account', 'team', 'membership'] as const;

describe.for(KINDS)('the metadata of the %s', (kind) => {
  test('is empty, is changed by merge patches, and its ETag counts the changes', async ({ api }) => {
    const { operator, paths } = await aScene(api);
    const path = paths[kind];
    const before = await operator.get(path);
    expect(before.body).toEqual(EMPTY);
    expect(before.headers['etag']).toBe('"0"');

    const first = await operator.patch(path, { public: { a: { b: 1, c: [1, null] }, d: 'x' }, private: { e: true } });
    expect(first.body).toEqual({ public: { a: { b: 1, c: [1, null] }, d: 'x' }, private: { e: true }, version: 1 });
    expect(first.headers['etag']).toBe('"1"');

    const second = await operator.patch(path, { public: { a: { b: null, f: { g: null, h: 2 } }, d: [3] } });
    const changed = { public: { a: { c: [1, null], f: { h: 2 } }, d: [3] }, private: { e: true }, version: 2 };
    expect(second.body).toEqual(changed);
    expect((await operator.get(path)).body).toEqual(changed);

    const emptied = await operator.patch(path, { public: null });
    expect(emptied.body).toEqual({ public: {}, private: { e: true }, version: 3 });
  });

  test('is not changed if it has another version than If-Match or `version` says, of 10 at once one wins', async ({
    api,
  }) => {
    const { operator, paths } = await aScene(api);
    const path = paths[kind];
    const at = (n: number) =>
      operator.send({
        method: 'PATCH',
        path,
        headers: { 'content-type': 'application/merge-patch+json', 'if-match': '"0"' },
        body: JSON.stringify({ public: { n } }),
      });

    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => at(n)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 9 }, () => 412),
    ]);
    expect(await operator.patch(path, { public: { n: 99 }, version: 0 })).toBeProblem('version_mismatch');
    expect((await operator.patch(path, { public: { n: 99 }, version: 1 })).body.version).toBe(2);
  });

  test('that is patched to what it is keeps its version and has no event; a change has one for each part', async ({
    api,
  }) => {
    const { operator, paths } = await aScene(api);
    const change = { public: { a: 1 }, private: { b: 2 } };
    await operator.patch(paths[kind], change);
    const events = async () => (await eventsOf(api)).filter(({ event }) => event.includes('metadata'));
    const recorded = (await events()).length;

    for (const same of [change, {}, { public: { z: null } }, { public: { a: 1.0 } }])
      expect((await operator.patch(paths[kind], same)).body).toEqual({ ...change, version: 1 });
    expect((await events()).length).toBe(recorded);
  });
});

const eventsOf = (api: Api) =>
  api.rows<{
    event: string;
    team_id: string | null;
    account_id: string | null;
    target_id: string | null;
    details: object;
  }>('select event, team_id, account_id, target_id, details from audit_event order by id');

describe('what is rejected', () => {
  test.for([
    ['a member __proto__', '{"public":{"a":{"__proto__":{"b":1}}}}', '/public/a/__proto__', 'invalid_value'],
    ['a part __proto__ of a part', '{"private":{"__proto__":null}}', '/private/__proto__', 'invalid_value'],
    ['U+0000 in a value', '{"public":{"a":["\\u0000"]}}', '/public/a/0', 'invalid_format'],
    ['a lone surrogate in a value', '{"public":{"a":"\\ud800"}}', '/public/a', 'invalid_format'],
    ['U+0000 in a name', '{"public":{"a":{"\\u0000":1}}}', '/public/a', 'invalid_value'],
    ['a lone surrogate in a name', '{"public":{"\\udc00":1}}', '/public', 'invalid_value'],
    ['an integer beyond 2^53', '{"public":{"a":9007199254740993}}', '/public/a', 'invalid_value'],
    ['more digits than a double has', '{"public":{"a":0.12345678901234567890}}', '/public/a', 'invalid_value'],
    ['a number that is too large', '{"public":{"a":1e400}}', '/public/a', 'invalid_value'],
    ['a number that is too small', '{"public":{"a":1e-400}}', '/public/a', 'invalid_value'],
    [
      '17 levels',
      `{"public":{"a":${'['.repeat(16)}${']'.repeat(16)}}}`,
      `/public/a${'/0'.repeat(15)}`,
      'invalid_value',
    ],
    [
      '200 levels',
      `{"public":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`,
      `/public${'/a'.repeat(16)}`,
      'invalid_value',
    ],
    [
      'thousands of levels',
      `{"public":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`,
      `/public/a${'/0'.repeat(15)}`,
      'invalid_value',
    ],
    ['a part that is a list', '{"public":[]}', '/public', 'invalid_type'],
    ['a part that is text', '{"private":"x"}', '/private', 'invalid_type'],
    ['a part that does not exist', '{"secret":{}}', '/secret', 'invalid_value'],
    ['8,193 bytes', `{"public":{"a":"x${'ä'.repeat(4092)}"}}`, '/public', 'max_length'],
  ])('%s, and nothing changes', async ([, body, pointer, code], { api }) => {
    const scene = await aScene(api);
    const answer = await patchRaw(scene, body ?? '');
    expect(answer).toBeProblem('validation_failed');
    expect(answer.body.errors).toEqual([expect.objectContaining({ in: 'body', pointer, code })]);
    expect((await scene.operator.get(scene.paths.team)).body).toEqual(EMPTY);
  });

  test('a body that is no object, malformed, of another type, or of a merge patch elsewhere', async ({ api }) => {
    const scene = await aScene(api);
    expect(await patchRaw(scene, '[]')).toBeProblem('validation_failed');
    expect(await patchRaw(scene, '{"public":')).toBeProblem('malformed_json');
    const text = { 'content-type': 'application/json-patch+json' };
    expect(await patchRaw(scene, '{}', text)).toBeProblem('unsupported_media_type');
    const { operator, team } = scene;
    const headers = { 'content-type': 'application/merge-patch+json' };
    const elsewhere = await operator.send({ method: 'PATCH', path: `${TEAMS}/${team.id}`, headers, body: '{}' });
    expect(elsewhere).toBeProblem('unsupported_media_type');
  });

  test('what would become too long by several patches', async ({ api }) => {
    const { operator, paths } = await aScene(api);
    // {"a":"…"} is 8 bytes longer than its text.
    expect((await operator.patch(paths.team, { public: { a: 'ä'.repeat(4092) } })).status).toBe(200);
    const answer = await operator.patch(paths.team, { public: { b: 1 }, private: { c: 1 } });
    expect(answer).toBeProblem('validation_failed');
    expect(answer.body.errors).toEqual([{ in: 'body', pointer: '/public', code: 'max_length', params: { max: 8192 } }]);
    expect((await operator.get(paths.team)).body).toMatchObject({ private: {}, version: 1 });
  });

  test('unknown accounts, teams and members', async ({ api }) => {
    const { operator, team, owner } = await aScene(api);
    const stranger = await api.anAccount();
    for (const [path, problem] of [
      [`${ACCOUNTS}/acc_unknown/metadata`, 'account_not_found'],
      [`${ACCOUNTS}/ext:unknown/metadata`, 'account_not_found'],
      [`${TEAMS}/team_unknown/metadata`, 'team_not_found'],
      [`${TEAMS}/team_unknown/members/${owner.id}/metadata`, 'team_not_found'],
      [`${TEAMS}/${team.id}/members/${stranger.id}/metadata`, 'member_not_found'],
    ] as const) {
      expect(await operator.get(path)).toBeProblem(problem);
      expect(await operator.patch(path, { public: { a: 1 } })).toBeProblem(problem);
    }
  });
});

test('numbers keep their value, however they are written, and names of JavaScript are names', async ({ api }) => {
  const scene = await aScene(api);
  const body = '{"public":{"a":1.50,"b":1E2,"c":1e300,"d":-0,"e":9007199254740992,"constructor":{"toString":1},"0":0}}';
  const stored = { a: 1.5, b: 100, c: 1e300, d: 0, e: 2 ** 53, constructor: { toString: 1 }, 0: 0 };
  expect((await patchRaw(scene, body)).body.public).toEqual(stored);
  await patchRaw(scene, '{"public":{"constructor":{"valueOf":2}}}');
  expect((await scene.operator.get(scene.paths.team)).body.public['constructor']).toEqual({ toString: 1, valueOf: 2 });
});

test('external ids are taken, and application/json too', async ({ api }) => {
  const { operator, member, team } = await aScene(api);
  const [account, tenant] = [newId('crm'), newId('tenant')];
  await operator.patch(`${ACCOUNTS}/${member.id}`, { externalId: account });
  await operator.patch(`${TEAMS}/${team.id}`, { externalId: tenant });
  const path = `${TEAMS}/ext:${tenant}/members/ext:${account}/metadata`;
  expect((await operator.patch(path, { private: { a: 1 } })).body.private).toEqual({ a: 1 });
  expect((await operator.get(path)).body.private).toEqual({ a: 1 });
});

describe('who reads it', () => {
  test('the public part: the account its own, members that of the team and of memberships; nobody the private one', async ({
    api,
  }) => {
    const { operator, paths, owner, member, team } = await aScene(api);
    for (const kind of KINDS) await operator.patch(paths[kind], { public: { of: kind }, private: { hidden: kind } });
    const guest = await api.anAccount();
    await api.aMember(team, guest, { role: 'guest' });
    const trpc = async (account: { id: string }) => (await signedIn(api, account)).trpc;

    const asMember = await trpc(member);
    expect(await asMember.metadata.own.query()).toEqual({ public: { of: 'account' } });
    expect(await asMember.metadata.team.query({ teamId: team.id })).toEqual({
      team: { public: { of: 'team' } },
      membership: { public: { of: 'membership' } },
    });
    const asOwner = await trpc(owner);
    expect(await asOwner.metadata.own.query()).toEqual({ public: {} });
    const accountIds = [member.id, 'acc_unknown', (await api.anAccount()).id];
    expect(await asOwner.metadata.members.query({ teamId: team.id, accountIds })).toEqual([
      { accountId: member.id, public: { of: 'membership' } },
    ]);
    const asGuest = await trpc(guest);
    expect((await asGuest.metadata.team.query({ teamId: team.id })).team).toEqual({ public: { of: 'team' } });
    await expect(asGuest.metadata.members.query({ teamId: team.id, accountIds })).rejects.toThrow(/permission/);
    await expect((await trpc(await api.anAccount())).metadata.team.query({ teamId: team.id })).rejects.toThrow(/team/i);
  });

  test('/api/v1 has nothing of it', async ({ api }) => {
    const { operator, paths, owner, team } = await aScene(api);
    for (const kind of KINDS)
      await operator.patch(paths[kind], { public: { canary: 'canary-1' }, private: { canary: 'canary-2' } });
    await operator.patch(`${ACCOUNTS}/${owner.id}/metadata`, { public: { canary: 'canary-3' } });
    const as = api.as(await api.anApiKey(owner, { scopes: ALL_SCOPES }));
    for (const path of [
      '/me',
      '/teams',
      `/teams/${team.id}`,
      `/teams/${team.id}/members`,
      '/credential',
      '/openapi.json',
    ])
      expect((await as.get(`/api/v1${path}`)).text).not.toMatch(/canary|etadata":/);
  });
});

describe('verify', () => {
  const VERIFY = '/operator/v1/credentials/verify';
  const PUBLIC = {
    account: { public: { of: 'account' } },
    team: { public: { of: 'team' } },
    membership: { public: { of: 'membership' } },
  };

  async function aCredential(api: Api) {
    const scene = await aScene(api);
    for (const kind of KINDS)
      await scene.operator.patch(scene.paths[kind], { public: { of: kind }, private: { hidden: kind } });
    const { member, team } = scene;
    const scopes = ['teams:read'] as const;
    return {
      ...scene,
      inTeam: [
        [await api.anApiKey(member, { scopes }), team.id],
        [await api.anApiKey(member, { scopes, team }), undefined],
        [await api.aGrant(member, { scopes, team }), undefined],
        [await api.aGrant(member, { scopes }), team.id],
      ] as const,
      personal: await api.anApiKey(member, { scopes }),
    };
  }

  test('answers the parts that `include` names, for each kind of credential', async ({ api }) => {
    const { operator, inTeam, personal } = await aCredential(api);
    const verify = async ({ secret }: { secret: string }, teamId: string | undefined, include: string[]) =>
      (await operator.post(VERIFY, { credential: secret, teamId, include })).body;

    for (const [credential, teamId] of inTeam) {
      const { metadata, ...answer } = await verify(credential, teamId, ['public_metadata']);
      expect(metadata).toEqual(PUBLIC);
      expect(await verify(credential, teamId, [])).toEqual(answer);
      expect((await verify(credential, teamId, ['private_metadata', 'public_metadata'])).metadata.membership).toEqual({
        public: { of: 'membership' },
        private: { hidden: 'membership' },
      });
    }
    expect((await verify(personal, undefined, ['public_metadata'])).metadata).toEqual({
      ...PUBLIC,
      team: null,
      membership: null,
    });
    expect((await verify(personal, 'team_unknown', ['public_metadata'])).code).toBe('team_not_found');
    expect(await verify({ secret: 'unknown' }, undefined, ['public_metadata'])).toMatchObject({ valid: false });
  });

  test('answers the private part to keys only that read accounts and teams, and costs no further statement', async ({
    api,
  }) => {
    const {
      inTeam: [[{ secret }, teamId]],
    } = await aCredential(api);
    const body = { credential: secret, teamId, include: ['private_metadata'] };
    for (const scopes of [
      ['credentials:verify'],
      ['credentials:verify', 'accounts:read'],
      ['credentials:verify', 'teams:read'],
    ] as const)
      expect(await api.as(await api.anOperatorKey({ scopes })).post(VERIFY, body)).toBeProblem('scope_missing');
    const key = await api.anOperatorKey({ scopes: ['credentials:verify', 'accounts:read', 'teams:read'] });

    const statements = vi.spyOn(pg.Client.prototype, 'query').mockClear();
    expect((await api.as(key).post(VERIFY, body)).body.metadata.account).toEqual({ private: { hidden: 'account' } });
    const sent = statements.mock.calls.map(([query]: unknown[]) => (query as { text?: string }).text ?? String(query));
    statements.mockRestore();
    expect(sent.filter((text) => text.includes('private_metadata'))).toHaveLength(1);
    expect(sent.filter((text) => /operator_key|api_key_secret/.test(text))).toHaveLength(1);
    expect(await api.as(key).post(VERIFY, { ...body, include: ['secrets'] })).toBeProblem('validation_failed');
  });
});

describe('an event of a change', () => {
  test('has the public part for its readers; of the private part the operator learns that it changed, teams nothing', async ({
    api,
  }) => {
    const { operator, paths, owner, member, team } = await aScene(api);
    for (const kind of KINDS) await operator.patch(paths[kind], { public: { of: kind }, private: { hidden: kind } });
    await numberEvents(api);

    const [{ id: membershipId } = { id: '' }] = await api.rows<{ id: string }>(
      'select id from membership where account_id = $1',
      [member.id],
    );
    const all = (await operator.get('/operator/v1/events?limit=100')).body.events as EventShown[];
    const shown = all
      .filter(({ type }) => type.includes('metadata'))
      .map(({ type, data, target, teamId, accountId, details }) => ({
        type,
        data,
        target: target?.id,
        teamId,
        accountId,
        ...(target?.id === membershipId && { details }),
      }));
    const nobody = { data: null, teamId: null, accountId: null };
    expect(
      shown.filter(
        ({ teamId, accountId, target }) =>
          [team.id, member.id].includes(teamId ?? accountId ?? '') ||
          [team.id, member.id, membershipId].includes(target ?? ''),
      ),
    ).toEqual([
      {
        type: 'account.metadata_changed',
        data: { accountMetadata: { accountId: member.id, public: { of: 'account' } } },
        target: undefined,
        teamId: null,
        accountId: member.id,
      },
      { ...nobody, type: 'account.private_metadata_changed', target: member.id },
      {
        type: 'team.metadata_changed',
        data: { teamMetadata: { teamId: team.id, public: { of: 'team' } } },
        target: undefined,
        teamId: team.id,
        accountId: null,
      },
      { ...nobody, type: 'team.private_metadata_changed', target: team.id },
      {
        type: 'member.metadata_changed',
        data: { memberMetadata: { membershipId, accountId: member.id, public: { of: 'membership' } } },
        target: undefined,
        teamId: team.id,
        accountId: member.id,
      },
      {
        ...nobody,
        type: 'member.private_metadata_changed',
        target: membershipId,
        details: { memberTeamId: team.id, memberAccountId: member.id },
      },
    ]);
    expect(JSON.stringify(all)).not.toContain('hidden');

    const asOwner = (await signedIn(api, owner)).trpc;
    const seen = JSON.stringify([
      await asOwner.audit.list.query({ teamId: team.id, limit: 100 }),
      await asOwner.events.list.query({ teamId: team.id }),
      await (await signedIn(api, member)).trpc.account.activity.query({ limit: 100 }),
    ]);
    expect(seen).toContain('metadata_changed');
    expect(seen).not.toMatch(/private_metadata|hidden/);
  });
});

type EventShown = {
  readonly type: string;
  readonly data: unknown;
  readonly target: { readonly id: string } | null;
  readonly teamId: string | null;
  readonly accountId: string | null;
  readonly details: unknown;
};

test('the export of an account has its public parts, and none of the private ones', async ({ api }) => {
  const { operator, paths, member } = await aScene(api);
  for (const kind of KINDS) await operator.patch(paths[kind], { public: { of: kind }, private: { hidden: kind } });
  const exported = await (await signedIn(api, member)).trpc.account.export.query();
  expect(exported.account['publicMetadata']).toEqual({ of: 'account' });
  expect(exported.memberships).toMatchObject([{ publicMetadata: { of: 'membership' } }]);
  expect(JSON.stringify(exported)).not.toContain('hidden');
});

test('the CSV of the operator has both parts', async ({ api }) => {
  const { operator, paths, member, team, owner } = await aScene(api);
  for (const kind of KINDS) await operator.patch(paths[kind], { public: { of: kind }, private: { hidden: kind } });
  await api.rows(`update account set role = 'admin' where id = $1`, [owner.id]);
  const headers = headersOf(await signedIn(api, owner));
  for (const [path, id, kind] of [
    ['accounts', member.id, 'account'],
    ['teams', team.id, 'team'],
  ] as const) {
    const { text } = await api.anonymous.send({ method: 'GET', path: `/exports/${path}.csv`, headers });
    expect(text.split('\r\n')[0]).toMatch(/,publicMetadata,privateMetadata$/);
    const line = text.split('\r\n').find((one) => one.startsWith(id));
    expect(line).toContain(`"{""of"":""${kind}""}","{""hidden"":""${kind}""}"`);
  }
});

test('a member who is removed and comes back starts without metadata', async ({ api }) => {
  const { operator, paths, member, team } = await aScene(api);
  await operator.patch(paths.membership, { public: { a: 1 }, private: { b: 2 } });
  await operator.delete(`${TEAMS}/${team.id}/members/${member.id}`);
  expect(await operator.get(paths.membership)).toBeProblem('member_not_found');
  await api.aMember(team, member);
  expect((await operator.get(paths.membership)).body).toEqual(EMPTY);
});

test('the metadata of a deleted account and team is gone, also from the events', async ({ api }) => {
  const { operator, paths, member, team } = await aScene(api);
  const canary = newId('canary');
  for (const kind of KINDS) await operator.patch(paths[kind], { public: { canary }, private: { canary } });
  await numberEvents(api);
  await operator.delete(`${ACCOUNTS}/${member.id}`);
  const [left] = await api.rows<{ n: number }>(
    `select (select count(*) from account where public_metadata::text || private_metadata::text ~ $1)
       + (select count(*) from membership where public_metadata::text || private_metadata::text ~ $1) as n`,
    [canary],
  );
  expect(Number(left?.n)).toBe(0);
  const shown = () => api.rows<{ type: string }>('select type from event_payload where data::text ~ $1', [canary]);
  expect(await shown()).toEqual([{ type: 'team.metadata_changed' }]);

  await operator.delete(`${TEAMS}/${team.id}`);
  expect(await api.rows('select 1 from team where public_metadata::text ~ $1', [canary])).toEqual([]);
});
