import { describe, expect } from 'vitest';
import { SCOPES } from '../../src/entities/index.ts';
import { test, type Api } from '../support/api.ts';
import type { AKey } from '../support/factories.ts';
import { problemOf } from '../support/browser.ts';
import { as, inMinutes, outcomeOf, tally, withKey } from './console.ts';

const HOUR_MS = 60 * 60 * 1000;

/** Somebody who is signed in and has a key. */
async function aKeyOwner(api: Api, fields: Parameters<Api['anApiKey']>[1] = {}) {
  const account = await api.anAccount();
  const key = await api.anApiKey(account, fields);
  return { account, key, trpc: await as(api, account) };
}

/** A team with a key of a member, and somebody else of the team whose role manages keys. */
async function aTeamWithKey(api: Api) {
  const team = await api.aTeam({ owner: await api.anAccount() });
  const maker = await api.anAccount({ firstName: 'Ada', lastName: 'Lovelace' });
  await api.aMember(team, maker);
  const key = await api.anApiKey(maker, { team });
  const manager = await api.anAccount();
  await api.aMember(team, manager, { role: (await api.aRole(team, ['manage_api_keys'])).id });
  return { team, maker, key, manager, trpc: await as(api, manager) };
}

/** Whether the service takes the secret, by what a request over REST is answered with. */
const works = async (api: Api, secret: string) => (await api.as({ secret }).get('/api/v1/credential')).status === 200;

const secretsOf = (api: Api, { id }: { id: string }) =>
  api.rows<{ is_current: boolean }>(
    'select expires_at is null as is_current from api_key_secret where api_key_id = $1 order by is_current desc',
    [id],
  );

const stateOf = (api: Api, keys: readonly AKey[]) =>
  api.rows(
    `select to_jsonb(k) - 'last_used_at' as key, (select jsonb_agg(to_jsonb(s) order by s.secret_hash) from api_key_secret s where s.api_key_id = k.id) as secrets
     from api_key k where k.id = any(string_to_array($1, ' ')) order by k.id`,
    [keys.map(({ id }) => id).join(' ')],
  );

const auditOf = (api: Api, keyId: string) =>
  api.lines
    .filter((line) => line['keyId'] === keyId)
    .map(({ audit, accountId, makerId, teamId }) => ({ audit, accountId, makerId, teamId }));

describe('apiKeys.rotate', () => {
  test('both secrets work for the hours that are given, then only the new one', async ({ api }) => {
    const { account, key, trpc } = await aKeyOwner(api);

    const rotated = await trpc.apiKeys.rotate.mutate({ keyId: key.id, overlapHours: 168 });

    expect(rotated.secret).toMatch(/^rst_pk_[0-9A-Za-z]{49}$/);
    expect(rotated.key).toMatchObject({
      id: key.id,
      keyPrefix: rotated.secret.slice(0, 13),
      last4: rotated.secret.slice(-4),
      scopes: ['teams:read'],
      teamId: null,
    });
    expect(await works(api, key.secret)).toBe(true);
    expect(await works(api, rotated.secret)).toBe(true);
    const [listed] = await trpc.apiKeys.list.query({});
    expect(listed).toMatchObject({ id: key.id, last4: rotated.key.last4 });
    expect(Date.parse(listed?.previousSecretUntil ?? '') - Date.now()).toBeCloseTo(168 * HOUR_MS, -5);
    expect(await trpc.listApiKeys.query({})).toEqual([
      { ...rotated.key, lastUsedAt: expect.toBeOneOf([null, expect.any(String)]) },
    ]);
    expect(auditOf(api, key.id)).toMatchObject([{ audit: 'api_key.rotated', accountId: account.id, teamId: null }]);

    await api.rows(
      `update api_key_secret set expires_at = now() - interval '1 ms' where api_key_id = $1 and expires_at is not null`,
      [key.id],
    );
    expect(await works(api, key.secret)).toBe(false);
    expect(await works(api, rotated.secret)).toBe(true);
    expect(await trpc.apiKeys.list.query({})).toMatchObject([{ previousSecretUntil: null }]);
  });

  test('without an overlap the old secret stops working immediately, and so does the previous one', async ({ api }) => {
    const { key, trpc } = await aKeyOwner(api);
    const second = await trpc.apiKeys.rotate.mutate({ keyId: key.id, overlapHours: 24 });

    const third = await trpc.apiKeys.rotate.mutate({ keyId: key.id, overlapHours: 0 });

    expect(await secretsOf(api, key)).toEqual([{ is_current: true }]);
    expect(await works(api, key.secret)).toBe(false);
    expect(await works(api, second.secret)).toBe(false);
    expect(await works(api, third.secret)).toBe(true);
    expect(await trpc.apiKeys.list.query({})).toMatchObject([{ previousSecretUntil: null }]);
  });

  test('during an overlap the oldest secret ends early', async ({ api }) => {
    const { key, trpc } = await aKeyOwner(api);
    const second = await trpc.apiKeys.rotate.mutate({ keyId: key.id, overlapHours: 24 });

    const third = await trpc.apiKeys.rotate.mutate({ keyId: key.id, overlapHours: 1 });

    expect(await works(api, key.secret)).toBe(false);
    expect(await works(api, second.secret)).toBe(true);
    expect(await works(api, third.secret)).toBe(true);
    const [listed] = await trpc.apiKeys.list.query({});
    expect(Date.parse(listed?.previousSecretUntil ?? '') - Date.now()).toBeCloseTo(HOUR_MS, -5);
  });

  // Guarantees that two rotations are done one after the other, so that neither leaves a secret without an end behind.
  test('several concurrent rotations leave two valid secrets, one of them with an expiry', async ({ api }) => {
    const { key, trpc } = await aKeyOwner(api);

    const rotated = await Promise.all(
      Array.from({ length: 4 }, () => trpc.apiKeys.rotate.mutate({ keyId: key.id, overlapHours: 24 })),
    );

    expect(await secretsOf(api, key)).toEqual([{ is_current: true }, { is_current: false }]);
    const valid = await Promise.all([key, ...rotated].map(({ secret }) => works(api, secret)));
    expect(valid.filter(Boolean)).toHaveLength(2);
    expect(valid[0]).toBe(false);
  });

  // Guarantees that a key which is revoked meanwhile stays revoked, whatever secret it is given.
  test('together with its revocation a key gets no secret that works', async ({ api }) => {
    for (let i = 0; i < 5; i++) {
      const { key, trpc } = await aKeyOwner(api);
      const rotation = trpc.apiKeys.rotate.mutate({ keyId: key.id, overlapHours: 1 }).catch(() => undefined);
      await trpc.revokeApiKey.mutate({ keyId: key.id });

      const rotated = await rotation;
      expect(await works(api, key.secret)).toBe(false);
      if (rotated !== undefined) expect(await works(api, rotated.secret)).toBe(false);
    }
  });

  test('a key for a team keeps its kind, its team and its end', async ({ api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: account });
    const expiresAt = inMinutes(30);
    const key = await api.anApiKey(account, { team, expiresAt });
    const trpc = await as(api, account);

    const { key: rotated, secret } = await trpc.apiKeys.rotate.mutate({ keyId: key.id, overlapHours: 24 });

    expect(secret).toMatch(/^rst_tk_/);
    expect(rotated).toMatchObject({ teamId: team.id, expiresAt: expiresAt.toISOString() });
    expect((await api.as({ secret }).get('/api/v1/teams')).body).toMatchObject([{ id: team.id }]);
    // The old secret cannot work longer than the key.
    expect(await trpc.apiKeys.list.query({ teamId: team.id })).toMatchObject([
      { previousSecretUntil: expiresAt.toISOString() },
    ]);
    expect(auditOf(api, key.id)).toMatchObject([{ teamId: team.id }]);
  });

  test('a key of another account, an expired and a revoked one get the same error as an unknown one', async ({
    api,
  }) => {
    const { account, trpc } = await aKeyOwner(api);
    const { team, key: ofMember } = await aTeamWithKey(api);
    await api.aMember(team, account, { role: (await api.aRole(team, ['manage_api_keys'])).id });
    const keys = [
      (await aKeyOwner(api)).key,
      ofMember,
      await api.anApiKey(account, { expiresAt: inMinutes(-1) }),
      await api.anApiKey(account, { revoked: true }),
    ];
    const before = await stateOf(api, keys);

    const unknown = await problemOf(trpc.apiKeys.rotate.mutate({ keyId: 'key_unknown', overlapHours: 1 }));
    expect(unknown.code).toBe('api_key_not_found');
    for (const { id } of keys) {
      const problem = await problemOf(trpc.apiKeys.rotate.mutate({ keyId: id, overlapHours: 1 }));
      expect({ ...problem, requestId: '' }).toEqual({ ...unknown, requestId: '' });
    }
    expect(await stateOf(api, keys)).toEqual(before);
  });

  test('requires a signed-in user: no key creates a secret for itself', async ({ api }) => {
    const { account, key } = await aKeyOwner(api, { scopes: SCOPES });
    const grant = await api.aGrant(account, { scopes: SCOPES });
    const before = await stateOf(api, [key]);

    const input = { keyId: key.id, overlapHours: 1 };
    expect(await outcomeOf(api.visitor().trpc.apiKeys.rotate.mutate(input))).toBe('credential_missing');
    for (const credential of [key, grant])
      expect(await outcomeOf(withKey(api, credential).apiKeys.rotate.mutate(input))).toBe('session_required');
    expect(await stateOf(api, [key])).toEqual(before);
  });

  test.for([-1, 169, 0.5])('rejects an overlap of %s hours', async (overlapHours, { api }) => {
    const { key, trpc } = await aKeyOwner(api);
    const before = await stateOf(api, [key]);

    expect(await outcomeOf(trpc.apiKeys.rotate.mutate({ keyId: key.id, overlapHours }))).toBe('validation_failed');
    expect(await stateOf(api, [key])).toEqual(before);
  });
});

describe('apiKeys.list', () => {
  test('without a team: the personal keys of the account, also the expired ones', async ({ api }) => {
    const { account, key, trpc } = await aKeyOwner(api);
    const expired = await api.anApiKey(account, { expiresAt: inMinutes(-1) });
    await api.anApiKey(account, { revoked: true });
    await api.anApiKey(account, { team: await api.aTeam({ owner: account }) });
    await aKeyOwner(api);

    const keys = await trpc.apiKeys.list.query({});

    expect(keys.map(({ id }) => id).toSorted()).toEqual([key.id, expired.id].toSorted());
    expect(keys).toMatchObject(keys.map(() => ({ teamId: null, isOwn: true, madeBy: { userId: account.id } })));
  });

  test('with a team: all of its keys, with their creators', async ({ api }) => {
    const { team, maker, key, manager, trpc } = await aTeamWithKey(api);
    const own = await api.anApiKey(manager, { team });
    await api.anApiKey(manager);
    await api.anApiKey(maker, { team, revoked: true });

    const keys = await trpc.apiKeys.list.query({ teamId: team.id });

    expect(keys.map(({ id, isOwn, madeBy }) => ({ id, isOwn, madeBy }))).toEqual([
      {
        id: key.id,
        isOwn: false,
        madeBy: { accountId: maker.id, userId: maker.id, email: maker.email, firstName: 'Ada', lastName: 'Lovelace' },
      },
      {
        id: own.id,
        isOwn: true,
        madeBy: { accountId: manager.id, userId: manager.id, email: manager.email, firstName: null, lastName: null },
      },
    ]);
    // What it says of each is otherwise what REST says, which shows nothing of the product.
    const withoutMore = keys.map(
      ({ isOwn: _isOwn, madeBy: _madeBy, previousSecretUntil: _until, permissions: _permissions, ...rest }) => rest,
    );
    expect(withoutMore).toEqual(await trpc.listApiKeys.query({ teamId: team.id }));
  });

  test('without a team it requires a signed-in user too', async ({ api }) => {
    const { key } = await aKeyOwner(api, { scopes: SCOPES });

    expect(await outcomeOf(api.visitor().trpc.apiKeys.list.query({}))).toBe('credential_missing');
    expect(await outcomeOf(withKey(api, key).apiKeys.list.query({}))).toBe('session_required');
  });
});

describe('apiKeys.revokeInTeam', () => {
  test('a key of another member is rejected from its next request on', async ({ api }) => {
    const { team, maker, key, trpc } = await aTeamWithKey(api);
    const { secret } = await (await as(api, maker)).apiKeys.rotate.mutate({ keyId: key.id, overlapHours: 24 });
    expect(await works(api, key.secret)).toBe(true);

    expect(await trpc.apiKeys.revokeInTeam.mutate({ teamId: team.id, keyId: key.id })).toEqual({ success: true });

    expect(await api.as(key).get('/api/v1/credential')).toBeProblem('credential_invalid');
    expect(await api.as({ secret }).get('/api/v1/credential')).toBeProblem('credential_invalid');
    expect(await trpc.apiKeys.list.query({ teamId: team.id })).toEqual([]);
    expect(auditOf(api, key.id).at(-1)).toEqual({
      audit: 'api_key.revoked',
      accountId: maker.id,
      makerId: maker.id,
      teamId: team.id,
    });
  });

  test('keys of another team, personal ones and revoked ones answer like one that never was', async ({ api }) => {
    const { team, maker, trpc } = await aTeamWithKey(api);
    const keys = [
      (await aTeamWithKey(api)).key,
      await api.anApiKey(maker),
      await api.anApiKey(maker, { team, revoked: true }),
    ];
    const before = await stateOf(api, keys);

    const unknown = await problemOf(trpc.apiKeys.revokeInTeam.mutate({ teamId: team.id, keyId: 'key_unknown' }));
    expect(unknown.code).toBe('api_key_not_found');
    for (const { id } of keys) {
      const problem = await problemOf(trpc.apiKeys.revokeInTeam.mutate({ teamId: team.id, keyId: id }));
      expect({ ...problem, requestId: '' }).toEqual({ ...unknown, requestId: '' });
    }
    expect(await stateOf(api, keys)).toEqual(before);
  });

  test('needs the permission, and leaves the key as it is without', async ({ api }) => {
    const { team, key } = await aTeamWithKey(api);
    const [member, stranger] = [await api.anAccount(), await api.anAccount()];
    await api.aMember(team, member, { role: 'member' });
    const input = { teamId: team.id, keyId: key.id };

    expect(await outcomeOf((await as(api, member)).apiKeys.revokeInTeam.mutate(input))).toBe('permission_missing');
    expect(await outcomeOf((await as(api, stranger)).apiKeys.revokeInTeam.mutate(input))).toBe('team_not_found');
    expect(await works(api, key.secret)).toBe(true);
  });

  test('of several concurrent calls one revokes', async ({ api }) => {
    const { team, key, trpc } = await aTeamWithKey(api);

    const calls = Array.from({ length: 3 }, () => trpc.apiKeys.revokeInTeam.mutate({ teamId: team.id, keyId: key.id }));

    expect(await tally(calls)).toEqual({ done: 1, api_key_not_found: 2 });
  });
});
