import type { Request, Response } from 'express';
import { addressBucket } from '../rate-limit/address-bucket.ts';
import { readAcceptLanguage } from '../http/accept-language.ts';
import { parseDevice } from '../http/device.ts';
import type { HttpServices } from '../http/http-services.ts';
import type { AuthenticatingBrowser } from '../procedures/browser-client.ts';
import type { Cookies } from '../http/cookies.ts';

/** Reads the browser client of a call, for the description of sessions and for emails. It never decides access. */
export function readBrowserClient(
  http: HttpServices,
  cookies: Cookies,
  req: Request,
  res: Response,
): AuthenticatingBrowser {
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
