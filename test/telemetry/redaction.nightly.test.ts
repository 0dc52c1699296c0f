import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { aProofKey, askConsent, goodRequest, post, refresh, resume } from '../oauth/flow.ts';
import { basic, postForm } from '../oauth/token-endpoint.ts';
import { tokenTo } from '../trpc/people.ts';
import { ALL_SCOPES } from '../rest/operations.ts';
import type { Api } from '../support/api.ts';
import type { Visitor } from '../support/browser.ts';
import { formsOf } from '../support/forms.ts';
import { tokenIn } from '../support/mailbox.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { aCollector, aWatchedService } from './service.ts';

/** Everything secret that anybody got to know in the test, and what it was. */
type Handed = ReturnType<typeof handedOut>;

function handedOut() {
  const kinds = new Map<string, string>();
  const keep = (kind: string, secret: string | null | undefined): string => {
    if (!secret) throw new Error(`There is no ${kind}.`);
    kinds.set(secret, kind);
    return secret;
  };
  return {
    kinds,
    keep,
    aPassword: () => keep('password', `wandering "héron" ${randomBytes(6).toString('hex')}`),
    createCookies: ({ cookies }: Visitor) => cookies.forEach((value, name) => keep(`cookie ${name}`, value)),
  };
}

const anAddress = () => `p-${randomBytes(6).toString('hex')}@example.com`;

/** Somebody signs up, and uses each kind of link. @returns who is signed in at the end */
async function account(api: Api, handed: Handed) {
  const { keep, aPassword, createCookies } = handed;
  const visitor = api.visitor();
  const [email, newEmail] = [anAddress(), anAddress()];
  const [first, second, third] = [aPassword(), aPassword(), aPassword()];
  const { auth, account: mine } = visitor.trpc;

  await auth.signUp.mutate({ email, password: first, firstName: 'Ada' });
  createCookies(visitor);
  await auth.verifyEmail.mutate({ token: keep('verification', await tokenTo(api, email, /^Verify/)) });
  await auth.signOut.mutate();
  await refused(auth.signIn.mutate({ email, password: aPassword() }));
  await auth.signIn.mutate({ email, password: first });
  createCookies(visitor);
  await mine.changePassword.mutate({ newPassword: second });
  await refused(mine.prove.mutate({ password: aPassword() }));
  await mine.changeEmail.mutate({ newEmail });
  await mine.confirmEmailChange.mutate({ token: keep('change', await tokenTo(api, newEmail, /^Confirm/)) });
  await auth.forgotPassword.mutate({ email: newEmail });
  const token = keep('reset', await tokenTo(api, newEmail, /^Reset/));
  await auth.resetPassword.mutate({ token, password: third });
  await refused(auth.resetPassword.mutate({ token, password: first }));
  await auth.signIn.mutate({ email: newEmail, password: third });
  createCookies(visitor);
  const { id } = await visitor.trpc.getMe.query();
  return { visitor, email: newEmail, password: third, id };
}

type Person = Awaited<ReturnType<typeof account>>;

/** A team whose owner invites somebody by mail and somebody by a link. */
async function team(api: Api, { visitor }: Person, handed: Handed) {
  const { trpc } = visitor;
  const made = await trpc.createTeam.mutate({ name: 'A team' });
  const [invited, linked] = [anAddress(), anAddress()];
  await trpc.createTeamInvitation.mutate({ teamId: made.id, email: invited, roleId: 'member' });
  const invitationToken = handed.keep('invitation', tokenIn(await api.mailTo(invited)));
  const { link } = await trpc.invitations.create.mutate({ teamId: made.id, email: linked, roleId: 'member' });
  const copied = handed.keep('copied invitation', /[?&#]token=([\w-]+)/.exec(link)?.[1]);

  const guest = api.visitor();
  await guest.trpc.invitations.read.mutate({ token: invitationToken });
  await guest.trpc.auth.signUp.mutate({ email: invited, password: handed.aPassword(), invitationToken });
  handed.createCookies(guest);
  await refused(guest.trpc.invitations.accept.mutate({ token: copied }));
  await guest.trpc.invitations.decline.mutate({ token: copied });
  return made;
}

/** Keys of both kinds, made over REST and in the console, one rotated. */
async function keys(api: Api, { visitor }: Person, teamId: string, { keep }: Handed) {
  const first = await visitor.trpc.createApiKey.mutate({ name: 'First', scopes: [...ALL_SCOPES] });
  keep('API key', first.secret);
  const second = await api.as(first).post('/api/v1/api-keys', { name: 'Second', scopes: ['teams:read'], teamId });
  expect(second.status).toBe(201);
  keep('team key', second.body.secret);
  const rotated = await visitor.trpc.apiKeys.rotate.mutate({ keyId: first.key.id, overlapHours: 1 });
  keep('rotated API key', rotated.secret);
  expect((await api.as(rotated).get('/api/v1/teams')).status).toBe(200);
  return rotated;
}

/** A client by which the account is acted for, from the pushed request to the revoked token. */
async function oauth(api: Api, { visitor, id: accountId }: Person, { keep, createCookies }: Handed) {
  const redirectUri = 'https://client.example/callback';
  const registered = await api.anonymous.post('/oauth/register', { redirect_uris: [redirectUri] });
  keep('registered client secret', registered.body.client_secret);
  const made = await visitor.trpc.oauthClients.create.mutate({
    name: 'A client',
    redirectUris: [redirectUri],
    isNative: false,
    isConfidential: true,
  });
  const client = { id: made.client.id, redirectUri, clientSecret: keep('client secret', made.clientSecret) };
  const { verifier, challenge } = aProofKey();
  keep('verifier', verifier);

  const state = keep('state', randomBytes(24).toString('base64url'));
  const pushed = await post(api, '/oauth/par', client, { ...goodRequest(client, challenge, ['teams:read']), state });
  keep('request_uri', pushed.body.request_uri.replace(/^.*:/, ''));
  const id = keep(
    'consent id',
    await askConsent(api, visitor, { client_id: client.id, request_uri: pushed.body.request_uri }),
  );
  await api.anonymous.get(`/oauth/consent/${id}`);
  const asked = { id, accountId, teamId: null, scopes: ['teams:read' as const] };
  const { redirectTo } = await visitor.trpc.authorizations.approve.mutate(asked);
  createCookies(visitor);
  const code = keep('code', (await resume(api, visitor, redirectTo)).get('code'));
  const form = { grant_type: 'authorization_code', code, code_verifier: verifier };
  const first = await postForm(api, '/oauth/token', form, basic(client.id, client.clientSecret));
  expect(first.status).toBe(200);
  keep('access token', first.body.access_token);
  const next = await refresh(api, client, keep('refresh token', first.body.refresh_token));
  keep('access token', next.body.access_token);
  keep('refresh token', next.body.refresh_token);
  expect((await api.as(next.body.access_token).get('/api/v1/teams')).status).toBe(200);
  await post(api, '/oauth/introspect', client, { token: next.body.access_token });
  await post(api, '/oauth/revoke', client, { token: next.body.refresh_token });
  await postForm(api, '/oauth/token', form, basic(client.id, client.clientSecret));
  return client;
}

/** A secret in each place where it does not belong. */
async function misplaced(api: Api, secret: string): Promise<void> {
  const [path, form] = [encodeURIComponent(secret), 'application/x-www-form-urlencoded'];
  const { anonymous } = api;
  const get = (target: string, headers: Record<string, string> = {}) =>
    anonymous.send({ method: 'GET', path: target, headers });
  const input = encodeURIComponent(JSON.stringify({ token: secret }));

  for (const place of ['', 'api/v1/', 'api/v1/teams/', 'trpc/', 'trpc/listTeams,', 'oauth/', 'oauth/authorize/']) {
    await get(`/${place}${path}`);
  }
  for (const place of ['problems', 'oauth/consent', 'dev/mail', 'assets', 'invitations', '.well-known']) {
    await get(`/${place}/${path}`);
  }
  for (const target of ['/api/v1/teams', '/oauth/authorize', '/reset-password', '/trpc/invitations.read', '/healthz']) {
    await get(`${target}?token=${path}&client_id=${path}&request_uri=${path}&${path}=1&input=${input}&batch=${path}`);
  }
  const printable = encodeURIComponent(secret);
  for (const name of ['authorization', 'cookie', 'traceparent', 'tracestate', 'baggage', 'user-agent']) {
    await get('/api/v1/teams', { [name]: printable });
    await get('/trpc/listTeams', { [name]: printable });
  }
  for (const name of ['origin', 'referer', 'x-forwarded-for', 'dpop', 'accept', 'host', 'expect', 'x-custom']) {
    await get('/api/v1/teams', { [name]: printable });
    await get('/nothing', { [name]: printable });
  }
  // An id is logged as it was sent, by contract, and only our own secrets have a form that shows.
  if (secret.startsWith('rst_')) {
    for (const target of ['/api/v1/teams', '/trpc/listTeams', '/healthz'])
      await get(target, { 'x-request-id': secret });
  }
  await get('/api/v1/teams', { authorization: `Basic ${Buffer.from(`a:${secret}`).toString('base64')}` });
  await get('/api/v1/teams', { authorization: `Bearer ${printable}x` });
  for (const body of [
    JSON.stringify({ name: 1, email: secret, [secret]: secret }),
    `{"password": "${secret}`,
    secret,
  ]) {
    for (const target of ['/api/v1/teams', '/trpc/auth.signIn', '/trpc/auth.signUp', '/oauth/register']) {
      await anonymous.send({ method: 'POST', path: target, headers: { 'content-type': 'application/json' }, body });
    }
    await anonymous.send({
      method: 'POST',
      path: '/api/v1/teams',
      headers: { 'content-type': secret === path ? secret : 'a/b' },
      body,
    });
    await anonymous.send({ method: 'POST', path: '/oauth/token', headers: { 'content-type': form }, body });
  }
  await bytes(api, `GET /${path} HTTP/1.1\r\nHost: a\r\nHost: ${path}\r\nConnection: close\r\n\r\n`);
  await bytes(api, `${path} / HTTP/1.1\r\nHost: a\r\n\r\n`);
  await bytes(api, `GET / HTTP/1.1\r\n${path}\r\n\r\n`);
}

async function bytes({ port }: Api, sent: string): Promise<string> {
  const socket = connect(port, '127.0.0.1', () => socket.write(sent));
  return text(socket);
}

/** Every write is refused by the database, which quotes the row; then everything is. */
async function broken(api: Api, person: Person, client: Awaited<ReturnType<typeof oauth>>, { aPassword }: Handed) {
  const tables = [
    'account',
    'session',
    'account_token',
    'sign_up_attempt',
    'api_key',
    'oauth_client',
    'oauth_token',
    'invitation',
    'team',
  ];
  for (const table of tables) await api.rows(`alter table ${table} add constraint never check (false) not valid`);
  const { trpc } = person.visitor;
  const attempts = async () => {
    const fresh = api.visitor().trpc.auth;
    await refused(fresh.signUp.mutate({ email: anAddress(), password: aPassword() }));
    await refused(fresh.signIn.mutate({ email: person.email, password: person.password }));
    await refused(fresh.forgotPassword.mutate({ email: person.email }));
    await refused(trpc.account.changePassword.mutate({ newPassword: aPassword() }));
    await refused(trpc.createApiKey.mutate({ name: 'Third', scopes: ['teams:read'] }));
    await refused(trpc.createTeam.mutate({ name: 'B team' }));
    await post(api, '/oauth/token', client, { grant_type: 'refresh_token', refresh_token: 'rst_rt_0' });
    await post(api, '/oauth/par', client, goodRequest(client, aProofKey().challenge, ['teams:read']));
  };
  await attempts();
  for (const table of tables) await api.rows(`alter table ${table} rename to ${table}_away`);
  await attempts();
}

const refused = (call: Promise<unknown>): Promise<unknown> => call.catch(() => undefined);

// Guarantees that the log, the metrics, the traces and a terminal give access to no account.
test.skipIf(!hasRedis)(
  'nothing that the service puts out holds a secret that was handed out',
  async () => {
    const handed = handedOut();
    const ofOperator = (kind: string) => handed.keep(kind, randomBytes(24).toString('hex'));
    const redisPassword = ofOperator('password of Redis');
    const [collector, redis] = [await aCollector(), await startRedis({ args: ['--requirepass', redisPassword] })];
    const { api, service, scrape, stop } = await aWatchedService({
      LOG_LEVEL: 'trace',
      REDIS_URL: redis.url.replace('redis://', `redis://:${redisPassword}@`),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=${ofOperator('password of the collector')}`,
      OAUTH_REGISTRATION: 'on',
      OAUTH_DPOP: 'on',
      RATE_LIMIT: '1000000',
      SIGN_IN_ADDRESS_LIMIT: '1000000',
      OAUTH_ADDRESS_LIMIT: '1000000',
    });
    handed.keep('secret key', 'test-key-test-key-test-key-test-key');

    const person = await account(api, handed);
    const { id: teamId } = await team(api, person, handed);
    const key = await keys(api, person, teamId, handed);
    const client = await oauth(api, person, handed);
    const secrets = [...handed.kinds.keys()];
    for (const secret of secrets) await misplaced(api, secret);
    await redis.stop();
    await api.as(key).get('/api/v1/teams');
    await broken(api, person, client, handed);
    const { text: metrics } = await scrape();
    await stop();

    const output: Record<string, string> = {
      stdout: service.lines.join('\n'),
      stderr: service.complaint(),
      metrics,
      spans: JSON.stringify(collector.exports),
    };
    // All of it is there: what happened, what failed and why.
    expect(output['stdout']).toContain('"operation":"auth.signUp","status":200');
    expect(output['stdout']).toContain('violates check constraint \\"never\\"');
    expect(output['stdout']).toContain('Redis is unavailable');
    expect(output['stdout']).toContain('"audit":"oauth_token.issued"');
    expect(output['metrics']).toContain('operation="auth.signUp",status="500"');
    expect(output['spans']).toContain('oauth.token');
    expect(new Set([...handed.kinds.values()].map((kind) => kind.replace(/^cookie .*/, 'cookie'))).size).toBe(21);
    expect(
      [...handed.kinds].flatMap(([secret, kind]) =>
        Object.entries(output).flatMap(([place, written]) =>
          formsOf(secret).some((form) => written.includes(form)) ? [`${kind} in ${place}`] : [],
        ),
      ),
    ).toEqual([]);
    // Nor what would help to guess one, or whom it belongs to.
    expect(Object.entries(output).filter(([, written]) => /\$argon2|@example\.com/.test(written))).toEqual([]);
  },
  120_000,
);
