import { describe, expect } from 'vitest';
import { startApi, test, testWith } from '../support/api.ts';
import { problemOf } from '../support/browser.ts';
import { setLastProof } from '../support/sessions.ts';
import { as, outcomeOf, tally } from './console.ts';

const URL = 'https://example.com/hook';

const inProduction = testWith(() =>
  startApi({ SMTP_URL: 'smtp://127.0.0.1:1', WEBHOOK_PRIVATE_NETWORKS: '10.0.0.0/8' }),
);

describe('an endpoint', () => {
  test('shows its secret only when it is created or rotated, and stores it encrypted', async ({ api }) => {
    const owner = await api.anAccount();
    const { id: teamId } = await api.aTeam({ owner });
    const trpc = await as(api, owner);

    const { endpoint, secret } = await trpc.webhooks.create.mutate({ teamId, url: URL, types: ['member.added'] });
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
    expect(endpoint).toMatchObject({ url: URL, types: ['member.added'], status: 'active', publicKey: null });
    const { endpointId } = endpoint;
    const rotated = await trpc.webhooks.rotateSecret.mutate({ teamId, endpointId, overlapHours: 1 });
    expect(rotated.secret).not.toBe(secret);
    expect(rotated.endpoint.previousSecretExpiresAt).not.toBeNull();

    const [row] = await api.rows<{ secret: string; previous_secret: string }>(
      'select secret, previous_secret from webhook_endpoint where id = $1',
      [endpointId],
    );
    expect(api.services.encryption.decrypt(row?.secret ?? '')).toBe(rotated.secret);
    expect(api.services.encryption.decrypt(row?.previous_secret ?? '')).toBe(secret);
    const shown = JSON.stringify([
      await trpc.webhooks.list.query({ teamId }),
      await api.rows('select details from audit_event'),
    ]);
    expect(shown).not.toContain('whsec_');
    const ended = await trpc.webhooks.rotateSecret.mutate({ teamId, endpointId, overlapHours: 0 });
    expect(ended.endpoint.previousSecretExpiresAt).toBeNull();
  });

  test('with a key pair has no secret to show, but a public key', async ({ api }) => {
    const owner = await api.anAccount();
    const { id: teamId } = await api.aTeam({ owner });

    const trpc = await as(api, owner);
    const created = await trpc.webhooks.create.mutate({ teamId, url: URL, signature: 'ed25519' });
    expect(created).toMatchObject({ secret: null, endpoint: { signature: 'ed25519' } });
    expect(created.endpoint.publicKey).toMatch(/^whpk_[\w+/]{43}=$/);
  });

  test('of another team, or of the installation, does not exist', async ({ api }) => {
    const owner = await api.anAccount();
    const [mine, other] = [await api.aTeam({ owner }), await api.aTeam({ owner: await api.anAccount() })];
    const foreign = await api.anAccount();
    await api.aMember(other, foreign, { role: (await api.aRole(other, ['edit_team_settings'])).id });
    const theirs = await as(api, foreign);
    const { endpoint } = await theirs.webhooks.create.mutate({ teamId: other.id, url: URL, types: ['team.updated'] });
    await api.rows(
      `insert into webhook_endpoint (id, created_at, url, types, secret) values ('whe_installation', now(), $1, '{}', '')`,
      [URL],
    );
    const trpc = await as(api, owner);

    for (const endpointId of [endpoint.endpointId, 'whe_installation']) {
      const input = { teamId: mine.id, endpointId };
      expect(await outcomeOf(trpc.webhooks.delete.mutate(input))).toBe('webhook_endpoint_not_found');
      expect(await outcomeOf(trpc.webhooks.deliveries.query(input))).toBe('webhook_endpoint_not_found');
    }
    expect(await trpc.webhooks.list.query({ teamId: mine.id })).toEqual([]);
    expect(await theirs.webhooks.list.query({ teamId: other.id })).toHaveLength(1);
  });

  test('shows its URL as it is requested', async ({ api }) => {
    const owner = await api.anAccount();
    const { id: teamId } = await api.aTeam({ owner });
    const trpc = await as(api, owner);
    const { endpoint } = await trpc.webhooks.create.mutate({ teamId, url: ' HTTPS://Example.COM:443/a/../b c' });
    expect(endpoint.url).toBe('https://example.com/b%20c');
    const { endpointId } = endpoint;
    expect(await trpc.webhooks.update.mutate({ teamId, endpointId, url: 'https://bücher.example' })).toMatchObject({
      url: 'https://xn--bcher-kva.example/',
    });
    const long = { teamId, endpointId, url: `https://example.com/${'ü'.repeat(1000)}` };
    expect(await outcomeOf(trpc.webhooks.update.mutate(long))).toBe('validation_failed');
  });

  test('is recorded with each of its changes', async ({ api }) => {
    const owner = await api.anAccount();
    const { id: teamId } = await api.aTeam({ owner });
    const trpc = await as(api, owner);
    const { endpoint } = await trpc.webhooks.create.mutate({ teamId, url: URL });
    const input = { teamId, endpointId: endpoint.endpointId };
    await trpc.webhooks.update.mutate({ ...input, types: ['team.updated'] });
    await trpc.webhooks.update.mutate(input);
    await trpc.webhooks.update.mutate({ ...input, url: URL });
    await trpc.webhooks.sendTest.mutate(input);
    await trpc.webhooks.pause.mutate(input);
    expect(await outcomeOf(trpc.webhooks.sendTest.mutate(input))).toBe('webhook_inactive');
    await trpc.webhooks.resume.mutate(input);
    await trpc.webhooks.rotateSecret.mutate(input);
    await trpc.webhooks.update.mutate({ ...input, url: 'https://other.example:8443/a/secret?of=theirs' });
    await trpc.webhooks.delete.mutate(input);

    const rows = await api.rows<{ event: string; name: string }>(
      `select event, details->>'name' as name from audit_event where target_id = $1 and team_id = $2 and actor_id = $3 order by id`,
      [endpoint.endpointId, teamId, owner.id],
    );
    // Its host, so that the log stays readable. The rest of a URL can be a secret.
    expect(rows.map(({ name }) => name)).toEqual([
      ...Array.from({ length: 6 }, () => new globalThis.URL(URL).host),
      ...Array.from({ length: 2 }, () => 'other.example:8443'),
    ]);
    const { events } = await trpc.audit.list.query({ teamId, kind: 'webhook_endpoint' });
    expect(events[0]).toMatchObject({ event: 'webhook_endpoint.deleted', target: { name: 'other.example:8443' } });
    expect(rows.map(({ event }) => event.replace('webhook_endpoint.', ''))).toEqual([
      'created',
      'updated',
      'tested',
      'paused',
      'resumed',
      'secret_rotated',
      'updated',
      'deleted',
    ]);
  });

  test.for(['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+14:00', '9999-12-31T23:59:59-14:00'])(
    'is not asked about a time that the database cannot read, nor is an audit log: %s',
    async (year, { api }) => {
      const owner = await api.anAccount();
      const { id: teamId } = await api.aTeam({ owner });
      await api.rows(`update account set role = 'admin' where id = $1`, [owner.id]);
      const trpc = await as(api, owner);
      const { endpoint } = await trpc.webhooks.create.mutate({ teamId, url: URL });

      const replayed = trpc.webhooks.replayFailed.mutate({ teamId, endpointId: endpoint.endpointId, since: year });
      expect(await outcomeOf(replayed)).toBe('validation_failed');
      for (const range of [{ from: year }, { to: year }]) {
        expect(await outcomeOf(trpc.audit.list.query({ teamId, ...range }))).toBe('validation_failed');
        expect(await outcomeOf(trpc.operator.audit.query(range))).toBe('validation_failed');
      }
    },
  );

  test('is one of at most ten of a team, also with concurrent calls', async ({ api }) => {
    const owner = await api.anAccount();
    const { id: teamId } = await api.aTeam({ owner });
    const trpc = await as(api, owner);

    const calls = Array.from({ length: 13 }, () => trpc.webhooks.create.mutate({ teamId, url: URL }));
    expect(await tally(calls)).toEqual({ done: 10, webhook_limit_reached: 3 });
  });
});

describe('the URL of a team’s endpoint', () => {
  inProduction.for([
    'http://example.com/hook',
    'http://127.0.0.1/hook',
    'http://localhost/hook',
    'https://localhost/hook',
    'https://app.localhost/hook',
    'https://127.0.0.1/hook',
    'https://2130706433/hook',
    'https://[::1]/hook',
    'https://10.0.0.1/hook',
    'https://169.254.169.254/latest',
    'https://[::ffff:a9fe:a9fe]/hook',
    'https://user:password@example.com/hook',
    'ftp://example.com/hook',
    'javascript:alert(1)',
    'example.com',
  ])('cannot be %s', async (url, { api }) => {
    const owner = await api.anAccount();
    const { id: teamId } = await api.aTeam({ owner });
    const trpc = await as(api, owner);

    expect(await problemOf(trpc.webhooks.create.mutate({ teamId, url }))).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/url' }],
    });
  });
});

describe('the endpoints of the installation', () => {
  test('are managed by operators, get types that no team gets, and exist for nobody else', async ({ api }) => {
    const operator = await api.anAccount();
    const { id: teamId } = await api.aTeam({ owner: operator });
    const trpc = await as(api, operator);
    const attempt = () => trpc.webhooks.create.mutate({ teamId: null, url: URL, types: ['account.created'] });

    expect(await outcomeOf(attempt())).toBe('route_not_found');
    expect(await outcomeOf(trpc.webhooks.list.query({ teamId: null }))).toBe('route_not_found');
    await api.rows(`update account set role = 'admin' where id = $1`, [operator.id]);
    const { endpoint, secret } = await attempt();
    expect(endpoint).toMatchObject({ types: ['account.created'], responsibleAccountId: null });
    expect(secret).toMatch(/^whsec_/);
    const input = { teamId: null, endpointId: endpoint.endpointId };
    expect(await outcomeOf(trpc.webhooks.pause.mutate({ ...input, teamId }))).toBe('webhook_endpoint_not_found');
    expect(await trpc.webhooks.pause.mutate(input)).toMatchObject({ status: 'paused' });
    expect((await trpc.webhooks.types.query({ teamId: null })).map(({ type }) => type)).toContain('account.created');
    const ofTeam = trpc.webhooks.create.mutate({ teamId, url: URL, types: ['team.updated', 'account.created'] });
    expect(await problemOf(ofTeam)).toMatchObject({ code: 'validation_failed', errors: [{ pointer: '/types/1' }] });

    await api.rows(`update account set role = 'user' where id = $1`, [operator.id]);
    expect(await outcomeOf(trpc.webhooks.delete.mutate(input))).toBe('route_not_found');
  });

  test('are created, pointed elsewhere and given a new secret only soon after a proof', async ({ api }) => {
    const operator = await api.anAccount();
    await api.rows(`update account set role = 'admin' where id = $1`, [operator.id]);
    const trpc = await as(api, operator);
    const { endpoint } = await trpc.webhooks.create.mutate({ teamId: null, url: URL });
    await setLastProof(api, 11, operator);

    const input = { teamId: null, endpointId: endpoint.endpointId };
    expect(await outcomeOf(trpc.webhooks.create.mutate({ teamId: null, url: URL }))).toBe('proof_required');
    expect(await outcomeOf(trpc.webhooks.update.mutate({ ...input, url: URL }))).toBe('proof_required');
    expect(await outcomeOf(trpc.webhooks.rotateSecret.mutate(input))).toBe('proof_required');
    const stored = await api.rows('select url from webhook_endpoint where id = $1 and previous_secret is null', [
      endpoint.endpointId,
    ]);
    expect(stored).toEqual([{ url: URL }]);
  });
});
