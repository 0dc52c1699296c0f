import bowser from 'bowser';
import type { HttpServices } from './http-services.ts';
import type { IncomingMessage } from 'node:http';
import type { ClientOrigin } from '../email/notices.ts';

type Device = { readonly browser: string | null; readonly os: string | null; readonly deviceType: string | null };

const UNKNOWN = { browser: null, os: null, deviceType: null };
const USER_AGENT_LENGTH_MAX = 1000;

/** Describes the browser that a client says to be. */
export function parseDevice(userAgent: string | undefined): Device {
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

/** Returns how to describe the client of a request, for notices. It is computed on demand, because few calls cause one. */
export const createOrigin =
  ({ locateClient }: Pick<HttpServices, 'locateClient'>, req: IncomingMessage, address: string) =>
  (): ClientOrigin => {
    const { browser, os } = parseDevice(req.headers['user-agent']);
    return { browser, os, ...locateClient(req, address) };
  };
