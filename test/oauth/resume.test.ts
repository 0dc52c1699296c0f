import { expect } from 'vitest';
import { test } from '../support/api.ts';

// Guarantees that a link which goes on with nothing is a page of ours, whatever it says, and neither a fault nor a redirect.
test.for<[what: string, query: (client: { id: string; redirectUri: string }) => Record<string, string>]>([
  ['nothing', () => ({})],
  ['a client', ({ id }) => ({ client_id: id })],
  ['a client and where it is sent', ({ id, redirectUri }) => ({ client_id: id, redirect_uri: redirectUri })],
  [
    'where to put an answer',
    ({ id, redirectUri }) => ({ client_id: id, redirect_uri: redirectUri, response_mode: 'fragment' }),
  ],
  ['a client that does not exist', () => ({ client_id: 'client_none' })],
])('an authorization that is over says so, to a link with %s', async ([, queryOf], { api }) => {
  const client = await api.anOAuthClient();
  const query = new URLSearchParams(queryOf(client)).toString();

  const { status, headers } = await api.anonymous.get(`/oauth/authorize/x?${query}`);

  expect(status).toBe(400);
  expect(headers['content-type']).toBe('text/html; charset=utf-8');
  expect(headers).not.toHaveProperty('location');
});
