import { parseCookie } from 'cookie';
import type { Response } from 'express';
import { DAY_MS } from '../time.ts';

export type Cookies = {
  /** Returns the tokens that a request contains. */
  read(header: string | undefined): Record<'session' | 'device' | 'browser', string | undefined>;
  setSession(res: Response, token: string, expiresAt: Date): void;
  clearSession(res: Response): void;
  setDevice(res: Response, token: string): void;
  setBrowser(res: Response, token: string): void;
};

const DEVICE_DAYS = 365;

/** Longer than an emailed link is valid, which can continue a request of the browser. */
const BROWSER_DAYS = 2;

/**
 * Reads and sets the cookies of sessions, known devices, and browsers that began an authorization request.
 * Over https their names begin with `__Host-`, so that no other host or path can set them. The plain names are
 * only for http on a loopback address.
 */
export function createCookies(baseUrl: string): Cookies {
  const secure = baseUrl.startsWith('https:');
  const prefix = secure ? '__Host-' : '';
  const sessionName = `${prefix}roster_session`;
  const deviceName = `${prefix}roster_device`;
  const browserName = `${prefix}roster_browser`;
  const options = { httpOnly: true, secure, sameSite: 'lax', path: '/' } as const;

  return {
    read(header = '') {
      const sent = parseCookie(header);
      return { session: sent[sessionName], device: sent[deviceName], browser: sent[browserName] };
    },
    setSession: (res, token, expiresAt) => void res.cookie(sessionName, token, { ...options, expires: expiresAt }),
    clearSession: (res) => void res.clearCookie(sessionName, options),
    setBrowser: (res, token) => void res.cookie(browserName, token, { ...options, maxAge: BROWSER_DAYS * DAY_MS }),
    setDevice: (res, token) => void res.cookie(deviceName, token, { ...options, maxAge: DEVICE_DAYS * DAY_MS }),
  };
}
