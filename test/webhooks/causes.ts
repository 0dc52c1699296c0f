import { expect } from 'vitest';
import { run } from '../cli/roster.ts';
import { post, refresh, someTokens } from '../oauth/flow.ts';
import type { Api } from '../support/api.ts';
import { anAddress, OTHER_PASSWORD, PASSWORD, tokenTo } from '../trpc/people.ts';
import { aScene } from '../events/mutations.ts';
import { anEndpoint, aReceiver, eventually, numberEvents } from './receiver.ts';

const SECRET_KEYS = 'test-key-test-key-test-key-test-key';

/** Causes the events that no mutation of the router causes by itself. Before a worker sends the emails that wait. */
export async function causeTheRest(api: Api): Promise<void> {
  await cancelImport(api);
  await failImport(api);
  await failEmails(api);
  await reclaim(api);
  await useTokens(api);
  await disableEndpoint(api);
  await importRows(api);
  await changeMetadata(api);
  await roster(api, 'secrets', 'reseal');
  await roster(api, 'oidc', 'rotate-keys');
}

/** An operator changes what the members of a team may read, and what only operators may. */
async function changeMetadata(api: Api): Promise<void> {
  const { owner, team } = await aScene(api);
  const operator = api.as(await api.anOperatorKey());
  for (const path of [`accounts/${owner.id}`, `teams/${team.id}`, `teams/${team.id}/members/${owner.id}`])
    for (const part of ['public', 'private'])
      expect((await operator.patch(`/operator/v1/${path}/metadata`, { [part]: { plan: 'a' } })).status).toBe(200);
}

const roster = async (api: Api, ...args: string[]) =>
  expect(await run({ DATABASE_URL: api.databaseUrl, SECRET_KEYS }, args)).toMatchObject({ code: 0, stderr: '' });

/** An operator empties the queue, with an invitation that was sent twice, and the notice of a password. */
async function failEmails(api: Api): Promise<void> {
  const { owner, team } = await aScene(api);
  const { trpc } = owner.visitor;
  const email = anAddress();
  for (let i = 0; i < 2; i += 1) await trpc.invitations.create.mutate({ teamId: team.id, email });
  await trpc.account.changePassword.mutate({ newPassword: OTHER_PASSWORD });
  await roster(api, 'queue', 'retry', '--all');
  await roster(api, 'queue', 'remove', '--all');
}

/** Who owns the mailbox of an account that somebody else created signs up. */
async function reclaim(api: Api): Promise<void> {
  const account = await api.anAccount();
  await api.rows('update account set email_verified_at = null where id = $1', [account.id]);
  const { trpc } = api.visitor();
  await trpc.auth.signUp.mutate({ email: account.email, password: PASSWORD });
  await trpc.auth.verifyEmail.mutate({ token: await tokenTo(api, account.email, /./) });
}

/** A client gives a token back, gets another consent, and repeats a refresh with another scope. */
async function useTokens(api: Api): Promise<void> {
  const { account, client, visitor, tokens } = await someTokens(api, { scopes: ['profile:read', 'teams:read'] });
  await post(api, '/oauth/revoke', client, { token: tokens.access });
  const next = await someTokens(api, { account, client, visitor, scopes: ['profile:read', 'teams:read'] });
  await refresh(api, client, next.tokens.refresh);
  await refresh(api, client, next.tokens.refresh, { scope: 'teams:read' });
}

/** A receiver answers that it is gone. */
async function disableEndpoint(api: Api): Promise<void> {
  const gone = await aReceiver((_req, res) => res.writeHead(410).end());
  await anEndpoint(api, gone.url);
  await numberEvents(api);
  await eventually(async () =>
    expect(await api.rows(`select id from audit_event where event = 'webhook_endpoint.disabled'`)).toHaveLength(1),
  );
}

async function importRows(api: Api): Promise<{ id: string; keyId: string; secret: string }> {
  const { id: keyId, secret } = await api.anOperatorKey();
  const { status, body } = await api.anonymous.send({
    method: 'POST',
    path: '/operator/v1/imports',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/x-ndjson' },
    body: `${JSON.stringify({ type: 'account', externalId: 'an-account', email: anAddress() })}\n`,
  });
  expect(status).toBe(202);
  return { id: body.id, keyId, secret };
}

/** An upload is canceled before a worker runs it. */
async function cancelImport(api: Api): Promise<void> {
  const { id, secret } = await importRows(api);
  expect((await api.as(secret).post(`/operator/v1/imports/${id}/cancel`)).body.status).toBe('canceled');
}

/** The key of an upload is revoked before a worker runs it. */
async function failImport(api: Api): Promise<void> {
  const { keyId } = await importRows(api);
  await roster(api, 'operator-key', 'revoke', '--key', keyId);
}
