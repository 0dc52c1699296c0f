import { parseCookie } from 'cookie';
import type { Response } from 'express';
import type { Authentication } from '../auth/authenticate.ts';
import { DAY_MS } from '../time.ts';

export type Cookies = {
  /** Returns the tokens that a request contains. */
  read(header: string | undefined): Record<'session' | 'device' | 'browser', string | undefined>;
  setSession(res: Response, token: string, expiresAt: Date): void;
  clearSession(res: Response): void;
  setDevice(res: Response, token: string): void;
  setBrowser(res: Response, token: string): void;
  /** Sets the cookies of a request under their present names, if it has a valid session under its former name. */
  renameSession(res: Response, header: string | undefined, authentication: Authentication): void;
};

const DEVICE_DAYS = 365;

/** Longer than an emailed link is valid, which can continue a request of the browser. */
const BROWSER_DAYS = 2;

/**
 * Returns the end of the names of all cookies: the port, because browsers send the cookies of a host to all of its ports.
 * Without it, several instances on one host sign each other out. Former versions had no ports in names.
 */
export function createCookieSuffix(baseUrl: string): string {
  const { port } = new URL(baseUrl);
  return port === '' ? '' : `_${port}`;
}

/**
 * Reads and sets the cookies of sessions, known devices, and browsers that began an authorization request.
 * Over https their names begin with `__Host-`, so that no other host or path can set them. The plain names are
 * only for http on a loopback address. Those without a port can be of another instance: they are read and never changed.
 */
export function createCookies(baseUrl: string): Cookies {
  const secure = baseUrl.startsWith('https:');
  const prefix = secure ? '__Host-' : '';
  const suffix = createCookieSuffix(baseUrl);
  const sessionName = `${prefix}roster_session`;
  const deviceName = `${prefix}roster_device`;
  const browserName = `${prefix}roster_browser`;
  const options = { httpOnly: true, secure, sameSite: 'lax', path: '/' } as const;

  const cookies: Cookies = {
    read(header = '') {
      const sent = parseCookie(header);
      const find = (name: string): string | undefined => (sent[name + suffix] ?? sent[name]) || undefined;
      return { session: find(sessionName), device: find(deviceName), browser: find(browserName) };
    },
    setSession: (res, token, expiresAt) =>
      void res.cookie(sessionName + suffix, token, { ...options, expires: expiresAt }),
    clearSession(res) {
      const { [sessionName]: former } = parseCookie(res.req.headers.cookie ?? '');
      // An empty one keeps that of another session under the former name from being read instead.
      if (suffix !== '' && former !== undefined)
        cookies.setSession(res, '', new Date(Date.now() + DEVICE_DAYS * DAY_MS));
      else res.clearCookie(sessionName + suffix, options);
    },
    setBrowser: (res, token) =>
      void res.cookie(browserName + suffix, token, { ...options, maxAge: BROWSER_DAYS * DAY_MS }),
    setDevice: (res, token) =>
      void res.cookie(deviceName + suffix, token, { ...options, maxAge: DEVICE_DAYS * DAY_MS }),
    renameSession(res, header = '', authentication) {
      const { principal } = authentication;
      const isValid = principal === null ? authentication.signUp !== undefined : principal.kind === 'session';
      if (suffix === '' || !isValid || parseCookie(header)[sessionName + suffix] !== undefined) return;
      const { session, device } = cookies.read(header);
      if (session === undefined) return;
      // The service ends the session, so the cookie can last longer.
      cookies.setSession(res, session, new Date(Date.now() + DEVICE_DAYS * DAY_MS));
      if (device !== undefined) cookies.setDevice(res, device);
    },
  };
  return cookies;
}
