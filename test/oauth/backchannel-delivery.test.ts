import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLocalJWKSet, jwtVerify, type JSONWebKeySet } from 'jose';
import { describe, expect, onTestFinished, vi } from 'vitest';
import { createMailer } from '../../src/email/mailer.ts';
import { startWorker } from '../../src/jobs/worker.ts';
import { readSigned } from '../../src/resources/openid/signing-keys.ts';
import type { LogoutOutcome } from '../../src/resources/openid/send-logout.ts';
import { resourceTasks } from '../../src/service/resource-tasks.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { firstPartyTokens, sessionOf } from './first-party-flow.ts';
import { aToldClient, waitingJobs } from './logout-jobs.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const test = testWith(() => startApi({ WEBHOOK_PRIVATE_NETWORKS: '127.0.0.0/8' }));

async function aBrowser(api: Api) {
  const account = await api.anAccount();
  return { account, visitor: await signedIn(api, account) };
}

/** An application’s server, which notes the logout tokens that it gets. */
async function anApplication(answer: () => number = () => 200) {
  const received: { token: string; type: string | undefined }[] = [];
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk: Buffer) => (body += chunk.toString()));
    req.on('end', () => {
      received.push({ token: new URLSearchParams(body).get('logout_token') ?? '', type: req.headers['content-type'] });
      res.writeHead(answer(), { location: '/elsewhere' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo; // listening on TCP
  return { uri: `http://127.0.0.1:${port}/logout`, received };
}

/** Runs the jobs of the service until the test ends. */
async function work(api: Api) {
  const outcomes: LogoutOutcome[] = [];
  const errors: unknown[] = [];
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (fields: object, message: string) => errors.push({ ...fields, message }),
  };
  const mailer = createMailer(api.services.config);
  const tasks = resourceTasks(api.services, log, (outcome) => outcomes.push(outcome));
  const worker = await startWorker(api.services, mailer, log, tasks);
  onTestFinished(async () => {
    await worker.stop();
    mailer.close();
  });
  return { outcomes, errors };
}

const eventually = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: PATIENCE_MS, interval: 50 });

describe('a logout token', () => {
  test('is delivered as the specification says (Back-Channel Logout, section 2.4)', async ({ api }) => {
    const { uri, received } = await anApplication();
    const client = await aToldClient(api, uri);
    const { account, visitor } = await aBrowser(api);
    const { body } = await firstPartyTokens(api, { client, visitor }, { scope: 'openid', nonce: 'n' });
    const sid = await sessionOf(api, visitor);
    const { outcomes } = await work(api);
    await visitor.trpc.auth.signOut.mutate();
    await eventually(() => expect(outcomes).toEqual(['delivered']));
    expect(received).toHaveLength(1);
    const { token = '', type } = received[0] ?? {};
    expect(type).toBe('application/x-www-form-urlencoded');
    const { baseUrl } = api.services.config;
    const keys = createLocalJWKSet((await api.anonymous.get('/oauth/jwks')).body as JSONWebKeySet); // RFC 7517
    const { payload, protectedHeader } = await jwtVerify(token, keys, { issuer: baseUrl, audience: client.id });
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'logout+jwt', kid: expect.stringMatching(/^sig_/) });
    const iat = payload.iat ?? 0;
    expect(payload).toEqual({
      iss: baseUrl,
      aud: client.id,
      sub: account.id,
      sid,
      iat,
      exp: iat + 120,
      jti: expect.stringMatching(/^lgt_/),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    });
    expect(await readSigned(api.services.db, body['id_token'] ?? '')).toBeDefined();
    expect(await readSigned(api.services.db, token), 'taken for an id token').toBeUndefined();
    await eventually(async () => expect(await waitingJobs(api, client)).toEqual([]));
  });

  test('is sent again until it is accepted, each time a new one; a redirect is not followed', async ({ api }) => {
    const answers = [302, 503, 204];
    const { uri, received } = await anApplication(() => answers[received.length - 1] ?? 500);
    const client = await aToldClient(api, uri);
    const { visitor } = await aBrowser(api);
    await firstPartyTokens(api, { client, visitor }, { scope: 'openid' });
    const { outcomes } = await work(api);
    await visitor.trpc.auth.signOut.mutate();
    for (const number of [1, 2]) {
      await eventually(() => expect(outcomes).toHaveLength(number));
      await eventually(async () =>
        expect(await waitingJobs(api, client)).toMatchObject([
          { last_error: `The application answered ${answers[number - 1]}.` },
        ]),
      );
      await api.rows(
        `with due as (update graphile_worker._private_jobs set run_at = now() where locked_at is null returning id)
         select pg_notify('jobs:insert', '{"count":1}') from due`,
      );
    }
    await eventually(() => expect(outcomes).toEqual(['retried', 'retried', 'delivered']));
    expect(new Set(received.map(({ token }) => token)).size).toBe(3);
  });

  test('is given up after the last attempt, which is logged, and never sent to a private address', async ({ api }) => {
    const client = await aToldClient(api, 'https://10.0.0.1/logout');
    const { visitor } = await aBrowser(api);
    await firstPartyTokens(api, { client, visitor }, { scope: 'openid' });
    await visitor.trpc.auth.signOut.mutate();
    await api.rows('update graphile_worker._private_jobs set attempts = 12');
    const { outcomes, errors } = await work(api);
    await eventually(() => expect(outcomes).toEqual(['failed']));
    expect(errors).toContainEqual({
      job: expect.any(String),
      clientId: client.id,
      sessionId: expect.stringMatching(/^ses_/),
      reason: expect.stringContaining('not allowed'),
      message: 'logout delivery failed permanently',
    });
    await eventually(async () => expect(await waitingJobs(api, client)).toEqual([]));
  });

  test('is not sent for a client that has no address any more', async ({ api }) => {
    const client = await aToldClient(api);
    const { visitor } = await aBrowser(api);
    await firstPartyTokens(api, { client, visitor }, { scope: 'openid' });
    await visitor.trpc.auth.signOut.mutate();
    await api.rows('update oauth_client set backchannel_logout_uri = null where id = $1', [client.id]);
    const { outcomes } = await work(api);
    await eventually(async () => expect(await waitingJobs(api, client)).toEqual([]));
    expect(outcomes).toEqual([]);
  });
});
