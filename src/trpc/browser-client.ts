import bowser from 'bowser';
import type { Request, Response } from 'express';
import { addressBucket } from '../rate-limit/address-bucket.ts';
import type { HttpServices } from '../http/http-services.ts';
import type { BrowserClient } from '../procedures/browser-client.ts';
import type { Cookies } from '../http/cookies.ts';

/** Who is at the other end of a call, as sessions and mails describe it. Nothing of it decides access. */
export function readBrowserClient(http: HttpServices, cookies: Cookies, req: Request, res: Response): BrowserClient {
  const address = http.clientAddress(req);
  return {
    addressBucket: addressBucket(address),
    attempts: http.attempts,
    // Both cost time, and only a sign-in asks for them.
    get device() {
      return deviceOf(req.headers['user-agent']);
    },
    get location() {
      return http.locateClient(req, address);
    },
    deviceToken: cookies.read(req.headers.cookie).device,
    browserToken: cookies.read(req.headers.cookie).browser,
    setSession: (token, expiresAt) => cookies.setSession(res, token, expiresAt),
    clearSession: () => cookies.clearSession(res),
    setDevice: (token) => cookies.setDevice(res, token),
  };
}

const UNKNOWN = { browser: null, os: null, deviceType: null };
const USER_AGENT_LENGTH_MAX = 1000;

function deviceOf(userAgent: string | undefined): BrowserClient['device'] {
  if (userAgent === undefined || userAgent === '') return UNKNOWN;
  const { browser, os, platform } = bowser.parse(userAgent.slice(0, USER_AGENT_LENGTH_MAX));
  return { browser: known(BROWSERS, browser.name), os: known(SYSTEMS, os.name), deviceType: platform.type ?? null };
}

// For what it does not know, the parser gives back a part of what the client wrote; that belongs in no mail.
const BROWSERS: ReadonlySet<string> = new Set(Object.values(bowser.BROWSER_MAP));
const SYSTEMS: ReadonlySet<string> = new Set(Object.values(bowser.OS_MAP));

const known = (names: ReadonlySet<string>, name: string | undefined): string | null =>
  name !== undefined && names.has(name) ? name : null;
