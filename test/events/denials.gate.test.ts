import pg from 'pg';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { createDenialLog, denied } from '../../src/events/denials.ts';
import { startApi, test as shared, type Api } from '../support/api.ts';
import { postForm } from '../oauth/token-endpoint.ts';
import { as, outcomeOf, withKey } from '../trpc/console.ts';
import { anAddress, aPerson, codeOf, signIn } from '../trpc/people.ts';
import type { EventRow } from './events.ts';

/** A service of the test's own. */
async function aService(settings: Record<string, string> = {}): Promise<Api> {
  const api = await startApi(settings);
  onTestFinished(() => api.close());
  return api;
}

async function refusalsOf(api: Api): Promise<EventRow[]> {
  await api.denials.flush();
  return api.rows<EventRow>(`select * from audit_event where event ~ 'denied|omitted|throttled' order by id`);
}

const inventedKey = 'rst_pk_invented';

describe('a denial', () => {
  // Guarantees that a flood of 401s is no flood of writes. The key is well-formed, so each request looks it up.
  shared('writes nothing while requests are denied, and then one row for all that are alike', async () => {
    const api = await aService();
    const unknownKey = api.services.tokens.generate('personalKey').secret;
    await api.as(unknownKey).get('/api/v1/teams');
    const queries = vi.spyOn(pg.Client.prototype, 'query').mockClear();
    for (let i = 0; i < 199; i += 1) await api.as(unknownKey).get('/api/v1/teams');
    const texts = queries.mock.calls.map(([query]: unknown[]) => (query as { text: string }).text);
    expect(texts).toHaveLength(199);
    expect(texts.filter((text) => !text.startsWith('select '))).toEqual([]);

    expect(await refusalsOf(api)).toMatchObject([
      {
        event: 'access.denied',
        count: 200,
        actor_kind: 'anonymous',
        address: '127.0.0.1',
        details: { reason: 'credential_invalid', until: expect.any(String) },
      },
    ]);
    expect(await refusalsOf(api)).toHaveLength(1);
  });

  shared('is written a minute later by itself', async () => {
    const api = await aService();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const denials = createDenialLog(api.services.db, (error) => expect.fail(String(error)));
    onTestFinished(() => denials.close());
    denials.note(denied('access.denied', 'by the timer'), { requestId: 'a-request', clientRequestId: null });
    const written = () => api.rows(`select 1 from audit_event where details->>'reason' = 'by the timer'`);

    await vi.advanceTimersByTimeAsync(59_000);
    expect(await written()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    await expect.poll(written).toHaveLength(1);
  });

  shared('of many kinds makes a thousand rows and one with the number of the rest', async () => {
    const api = await aService({ TRUST_PROXY: '1' });
    for (let i = 0; i < 1040; i += 20) {
      await Promise.all(
        Array.from({ length: 20 }, (_, j) =>
          api.anonymous.send({
            method: 'GET',
            path: '/api/v1/teams',
            headers: {
              authorization: `Bearer ${inventedKey}`,
              'x-forwarded-for': `10.0.${Math.floor((i + j) / 200)}.${(i + j) % 200}`,
            },
          }),
        ),
      );
    }

    const rows = await refusalsOf(api);
    expect(rows).toHaveLength(1001);
    expect(rows.find(({ event }) => event === 'denials.omitted')).toMatchObject({ count: 40 });
  });

  shared('is written when the service stops', async () => {
    const api = await aService();
    await api.as(inventedKey).get('/api/v1/teams');

    await api.denials.close();

    expect(await api.rows(`select count from audit_event where event = 'access.denied'`)).toEqual([{ count: 1 }]);
  });

  shared('of a call without any credential is none', async () => {
    const api = await aService();
    await api.anonymous.get('/api/v1/teams');

    expect(await refusalsOf(api)).toEqual([]);
  });
});

describe('what is recorded of', () => {
  shared('a wrong password: whose account it is, and nothing that was typed', async () => {
    const api = await aService();
    const { id, email } = await aPerson(api);
    const stranger = anAddress();
    expect(await codeOf(signIn(api.visitor(), email, 'not the password'))).toBe('sign_in_failed');
    expect(await codeOf(signIn(api.visitor(), stranger, 'not the password'))).toBe('sign_in_failed');

    const rows = await refusalsOf(api);
    expect(rows).toMatchObject([
      { event: 'sign_in.denied', account_id: id, details: { reason: 'sign_in_failed' } },
      { event: 'sign_in.denied', account_id: null, details: { reason: 'sign_in_failed' } },
    ]);
    expect(JSON.stringify(rows)).not.toMatch(/@|not the password/);
  });

  shared('sign-ins that are throttled', async () => {
    const api = await aService({ SIGN_IN_ADDRESS_LIMIT: '2' });
    const email = anAddress();
    for (let i = 0; i < 4; i += 1) await codeOf(signIn(api.visitor(), email, 'not the password'));

    expect(await refusalsOf(api)).toMatchObject([
      { event: 'sign_in.denied', count: 2 },
      { event: 'attempts.throttled', count: 2, details: { reason: 'rate_limited' } },
    ]);
  });

  shared('of a member without the permission belongs to the team too, one of another user does not', async () => {
    const api = await aService();
    const [guest, stranger] = [await api.anAccount(), await api.anAccount()];
    const team = await api.aTeam({ owner: await api.anAccount() });
    await api.aMember(team, guest);
    const key = await api.anApiKey(guest, { scopes: ['members:write'] });

    await api.as(key).send({
      method: 'DELETE',
      path: `/api/v1/teams/${team.id}/members/${guest.id}`,
      headers: { authorization: `Bearer ${key.secret}` },
    });
    await outcomeOf((await as(api, guest)).roles.create.mutate({ teamId: team.id, name: 'x', permissions: [] }));
    await outcomeOf((await as(api, stranger)).roles.create.mutate({ teamId: team.id, name: 'x', permissions: [] }));

    expect(await refusalsOf(api)).toMatchObject([
      {
        actor_kind: 'api_key',
        actor_id: guest.id,
        credential_id: key.id,
        team_id: team.id,
        details: { reason: 'permission_missing' },
      },
      { actor_kind: 'session', actor_id: guest.id, team_id: team.id, details: { reason: 'permission_missing' } },
      { actor_kind: 'session', actor_id: stranger.id, team_id: null, details: { reason: 'team_not_found' } },
    ]);
  });

  shared('of a key without the scope, and of a user who is no operator', async () => {
    const api = await aService();
    const account = await api.anAccount();
    const key = await api.anApiKey(account, { scopes: ['teams:read'] });
    await outcomeOf(withKey(api, key).updateMe.mutate({ firstName: 'Ada', lastName: 'Lovelace' }));
    await outcomeOf((await as(api, account)).operator.find.query({ query: 'anybody' }));

    expect(await refusalsOf(api)).toMatchObject([
      { event: 'access.denied', credential_id: key.id, details: { reason: 'scope_missing' } },
      { event: 'access.denied', actor_id: account.id, details: { reason: 'route_not_found' } },
    ]);
  });

  shared('requests to the authorization server that are throttled', async () => {
    const api = await aService({ OAUTH_ADDRESS_LIMIT: '1' });
    for (let i = 0; i < 3; i += 1) await postForm(api, '/oauth/revoke', {});

    expect((await refusalsOf(api)).filter(({ event }) => event === 'attempts.throttled')).toMatchObject([
      { actor_kind: 'oauth_client', count: 2, address: '127.0.0.1' },
    ]);
  });

  shared('of a client at the authorization server', async () => {
    const api = await aService();
    const client = await api.anOAuthClient();
    for (let i = 0; i < 3; i += 1) {
      await postForm(api, '/oauth/token', { client_id: client.id, grant_type: 'refresh_token', refresh_token: 'x' });
    }

    expect(await refusalsOf(api)).toMatchObject([
      {
        event: 'oauth_request.denied',
        client_id: client.id,
        count: 3,
        address: '127.0.0.1',
        details: { reason: 'invalid_grant' },
      },
    ]);
  });
});
