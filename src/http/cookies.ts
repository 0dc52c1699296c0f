import type { Response } from 'express';
import { DAY_MS } from '../time.ts';

export type Cookies = {
  /** The tokens a request sent, if any. */
  read(header: string | undefined): Record<'session' | 'device' | 'browser', string | undefined>;
  setSession(res: Response, token: string, expiresAt: Date): void;
  clearSession(res: Response): void;
  setDevice(res: Response, token: string): void;
  setBrowser(res: Response, token: string): void;
};

const DEVICE_DAYS = 365;

/**
 * The cookies there are: a session's, that of a browser that has signed in before, and that of a browser
 * in which an authorization request began. Behind https their names begin with `__Host-`, so that no other host or
 * path can set them; the plain names are for http on this machine alone.
 */
export function createCookies(baseUrl: string): Cookies {
  const secure = baseUrl.startsWith('https:');
  const prefix = secure ? '__Host-' : '';
  const sessionName = `${prefix}roster_session`;
  const deviceName = `${prefix}roster_device`;
  const browserName = `${prefix}roster_browser`;
  const options = { httpOnly: true, secure, sameSite: 'lax', path: '/' } as const;

  return {
    read(header) {
      const sent = new Map(
        (header ?? '')
          .split(';')
          .map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), pair.slice(pair.indexOf('=') + 1).trim()]),
      );
      return { session: sent.get(sessionName), device: sent.get(deviceName), browser: sent.get(browserName) };
    },
    setSession: (res, token, expiresAt) => void res.cookie(sessionName, token, { ...options, expires: expiresAt }),
    clearSession: (res) => void res.clearCookie(sessionName, options),
    setBrowser: (res, token) => void res.cookie(browserName, token, options),
    setDevice: (res, token) => void res.cookie(deviceName, token, { ...options, maxAge: DEVICE_DAYS * DAY_MS }),
  };
}
