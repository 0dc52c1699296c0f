import { expect } from 'vitest';
import type { Api } from '../support/api.ts';
import type { Answer, Sent } from '../support/client.ts';
import type { AClient, AnAccount } from '../support/factories.ts';
import { queryOf } from './flow.ts';

export type Form = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

/** A form as it is written, without the client's proof that `post` adds. */
export const postForm = (api: Api, path: string, form: Form | string, headers: Sent['headers'] = {}): Promise<Answer> =>
  api.anonymous.send({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: typeof form === 'string' ? form : queryOf(form),
  });

/** The client's secret in a header (RFC 6749, section 2.3.1). */
export const basic = (clientId: string, secret: string | null): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${clientId}:${secret ?? ''}`).toString('base64')}`,
});

/** What an answer says in two words: its status, and the code of its error. */
export const outcome = ({ status, body }: Answer): string =>
  [status, body?.error].filter((part) => part !== undefined).join(' ');

/** What becomes of each of some requests, one after another. */
export async function outcomesOf(
  cases: Readonly<Record<string, () => Promise<Answer>>>,
): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, send] of Object.entries(cases)) {
    const answer = await send();
    if (answer.status !== 200) expect(answer.headers['content-type'], name).toMatch(/^application\/json/);
    found[name] = outcome(answer);
  }
  return found;
}

/** Whether an access token is good for a call. */
export async function works(api: Api, access: string): Promise<boolean> {
  const answer = await api.as(access).get('/api/v1/credential');
  if (answer.status !== 200) expect(answer).toBeProblem('credential_invalid');
  return answer.status === 200;
}

/** The scopes that a call with the access token has. */
export const scopesOf = async (api: Api, access: string): Promise<string[]> =>
  (await api.as(access).get('/api/v1/credential')).body.scopes;

export async function grantOf(api: Api, { id }: AClient | AnAccount): Promise<string> {
  const [row, ...others] = await api.rows<{ id: string }>(
    'select id from oauth_grant where client_id = $1 or account_id = $1',
    [id],
  );
  if (row === undefined || others.length > 0) throw new Error('There is not one grant.');
  return row.id;
}

/** The token family of the client's or account's only consent. */
export async function familyOf(api: Api, { id }: AClient | AnAccount): Promise<string> {
  const [row, ...others] = await api.rows<{ id: string }>(
    'select id from oauth_token_family where client_id = $1 or account_id = $1',
    [id],
  );
  if (row === undefined || others.length > 0) throw new Error('There is not one token family.');
  return row.id;
}

/** How many refresh tokens of the grant can still be used. */
export async function liveChains(api: Api, grantId: string): Promise<number> {
  const rows = await api.rows(
    `select from oauth_token t join oauth_grant g on g.id = t.grant_id
     where g.id = $1 and t.kind = 'refresh' and t.consumed_at is null and t.expires_at > now()
       and g.revoked_at is null and g.expires_at > now()`,
    [grantId],
  );
  return rows.length;
}

export const isRevoked = async (api: Api, grantId: string): Promise<boolean> =>
  (await api.rows('select from oauth_grant where id = $1 and revoked_at is not null', [grantId])).length === 1;
