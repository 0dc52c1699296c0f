import { expect } from 'vitest';
import type { Answer } from '../support/client.ts';

/** A request that nobody but us may answer: our own page, which can neither be framed nor run anything. */
export function expectOurPage(answer: Answer, error: string): void {
  expect(answer.status, answer.headers.location).toBe(400);
  expect(answer.headers).not.toHaveProperty('location');
  expect(answer.headers['set-cookie']?.filter((cookie) => !cookie.includes('expires=Thu, 01 Jan 1970')) ?? []).toEqual(
    [],
  );
  expect(answer.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    'content-security-policy': expect.stringMatching(/^default-src 'none'; (?!.*script-src).*frame-ancestors 'none'$/),
  });
  expect(answer.text).toContain(`<code><bdi>${error}</bdi></code>`);
  expect(answer.text).not.toMatch(/<script|<form|https?:/i);
}

/** An answer to the client: to its redirect URI and nowhere else, in the query, with nothing but what is named. */
export function expectAtClient(answer: Answer, redirectUri: string, params: Readonly<Record<string, unknown>>): void {
  const { location = '' } = answer.headers;
  expect(answer.status, answer.text).toBe(303);
  expect(location.slice(0, location.indexOf('?'))).toBe(redirectUri);
  expect(location).not.toContain('#');
  expect(Object.fromEntries(new URL(location).searchParams)).toEqual({ iss: 'http://localhost:3000', ...params });
  expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
}

/** Where consent is asked for. */
export const CONSENT_PAGE = /^\/oauth\/consent\/([\w-]{43})$/;

export function expectConsentPage(answer: Answer): void {
  expect(answer.status, answer.text).toBe(303);
  expect(answer.headers.location).toMatch(CONSENT_PAGE);
}
