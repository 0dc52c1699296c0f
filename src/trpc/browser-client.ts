import bowser from 'bowser';
import type { Request, Response } from 'express';
import { addressBucket } from '../rate-limit/address-bucket.ts';
import { readAcceptLanguage } from '../http/accept-language.ts';
import type { HttpServices } from '../http/http-services.ts';
import type { BrowserClient } from '../procedures/browser-client.ts';
import type { Cookies } from '../http/cookies.ts';

/** Reads the browser client of a call, for the description of sessions and for emails. It never decides access. */
export function readBrowserClient(http: HttpServices, cookies: Cookies, req: Request, res: Response): BrowserClient {
  const address = http.clientAddress(req);
  return {
    addressBucket: addressBucket(address),
    attempts: http.attempts,
    // Computed on demand, because only a sign-in needs them.
    get device() {
      return parseDevice(req.headers['user-agent']);
    },
    get location() {
      return http.locateClient(req, address);
    },
    get language() {
      return readAcceptLanguage(req.headers['accept-language']);
    },
    get deviceToken() {
      return cookies.read(req.headers.cookie).device;
    },
    get browserToken() {
      return cookies.read(req.headers.cookie).browser;
    },
    setSession: (token, expiresAt) => cookies.setSession(res, token, expiresAt),
    clearSession: () => cookies.clearSession(res),
    setDevice: (token) => cookies.setDevice(res, token),
  };
}

const UNKNOWN = { browser: null, os: null, deviceType: null };
const USER_AGENT_LENGTH_MAX = 1000;

function parseDevice(userAgent: string | undefined): BrowserClient['device'] {
  if (userAgent === undefined || userAgent === '') return UNKNOWN;
  const { browser, os, platform } = bowser.parse(userAgent.slice(0, USER_AGENT_LENGTH_MAX));
  return {
    browser: toKnownName(BROWSERS, browser.name),
    os: toKnownName(SYSTEMS, os.name),
    deviceType: platform.type ?? null,
  };
}

// For unknown names the parser returns text of the client, which must not appear in emails.
const BROWSERS: ReadonlySet<string> = new Set(Object.values(bowser.BROWSER_MAP));
const SYSTEMS: ReadonlySet<string> = new Set(Object.values(bowser.OS_MAP));

const toKnownName = (names: ReadonlySet<string>, name: string | undefined): string | null =>
  name !== undefined && names.has(name) ? name : null;
