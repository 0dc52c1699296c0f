import { z } from 'zod';
import type { Services } from '../../service/services.ts';
import type { Encryption } from '../../crypto/encryption.ts';
import { hashSecret } from '../../crypto/tokens.ts';
import { command, query } from '../../db/query.ts';
import type { BrowserClient } from '../../procedures/browser-client.ts';
import type { Change } from '../../transactions/steps.ts';
import { allowsLoopback, findRedirectUriFault, hasRedirectUri } from '../oauth-clients/redirect-uri.ts';
import { getHoldValues, type Hold } from './hold.ts';
import { LINKED_REQUEST_HOURS } from './lifetimes.ts';

// Ways that begin at an application end there, also if a link by email is on the way.

/** Where a user goes on who came from an application. Absent if they came from none. */
export const continuation = z.object({
  name: z.string().meta({ description: 'The name of the application.' }),
  url: z.url().meta({ description: 'Its waiting request on this origin, or an address that the operator registered.' }),
});
export type Continuation = z.infer<typeof continuation>;

/** The id of the waiting request in the URL of the page from which the user came. An unknown one is ignored. */
export const authorizationId = z.string().max(255).optional();

const keep = command<{ client_id: string }>(
  'authorization_request_update_linked',
  `update authorization_request r set expires_at = greatest(r.expires_at, now() + interval '${LINKED_REQUEST_HOURS} hours')
   from oauth_client c
   where r.id_hash = $1 and r.browser_hash = $2 and r.result is null and r.expires_at > now()
     and c.id = r.payload->'params'->>'client_id' and c.deleted_at is null
   returning c.id as client_id`,
);

/**
 * Lets a request of the browser wait for a link that is emailed now.
 * @returns the client whose request it is; null without an open request of this browser
 */
export async function keepForLink(
  tx: Change,
  { browserToken }: Pick<BrowserClient, 'browserToken'>,
  id: string | undefined,
): Promise<string | null> {
  if (id === undefined || browserToken === undefined) return null;
  const [[row]] = await tx.run([[keep, getHoldValues({ id, browserToken })]]);
  return row?.client_id ?? null;
}

const findApplication = query<{ name: string }>(
  'authorization_request_find_application',
  `select c.name
   from authorization_request r
   join oauth_client c on c.id = r.payload->'params'->>'client_id' and c.deleted_at is null and c.source = 'operator'
   where r.id_hash = $1 and r.browser_hash = $2 and r.result is null and r.expires_at > now()`,
);

/**
 * Finds the application to which a sign-in leads, if the operator created it. Others chose their own name, which users
 * see only on the consent page, together with who made them.
 */
export async function findApplicationOfRequest({ db }: Services, hold: Hold): Promise<{ name: string } | null> {
  const [row] = await db.query(findApplication, getHoldValues(hold));
  return row ?? null;
}

type Row = {
  name: string;
  redirect_uris: string[];
  is_native: boolean;
  is_first_party: boolean;
  is_development: boolean;
  home_url: string | null;
  initiate_login_uri: string | null;
  sealed_id: string | null;
  redirect_uri: string | null;
};

// The latest request: whoever has begun again at the application has only its state.
const findTarget = query<Row>(
  'oauth_client_find_continuation',
  `select c.name, c.redirect_uris, c.is_native, c.is_first_party, c.is_development, c.home_url, c.initiate_login_uri,
     r.sealed_id, r.redirect_uri
   from oauth_client c
   left join lateral (
     select waiting.sealed_id, waiting.payload->'params'->>'redirect_uri' as redirect_uri
     from authorization_request waiting
     where waiting.browser_hash = $2 and waiting.payload->'params'->>'client_id' = c.id
       and waiting.result is null and waiting.expires_at > now()
     order by waiting.began_at desc limit 1) r on true
   where c.id = $1 and c.deleted_at is null`,
);

/**
 * Finds where the user of a link goes on that began at an application: its request, in the browser in which it waits, or
 * else the addresses that the operator has registered, of a first-party client. Everything is read when it is used, so a
 * client that was deleted, lost its mark or got other addresses meanwhile counts as it is now.
 * @param clientId null for a link that began at no application
 * @param accountId the account that goes on, if it is known; only first-party applications learn it
 */
export async function findContinuation(
  { db, config, encryption }: Services,
  clientId: string | null,
  { browserToken }: { readonly browserToken?: string | undefined },
  accountId: string | null = null,
): Promise<Continuation | undefined> {
  if (clientId === null) return undefined;
  const [row] = await db.query(findTarget, [clientId, hashSecret(browserToken ?? '')]);
  if (row === undefined) return undefined;
  const { name } = row;
  const id = findRequest(row, encryption);
  if (id !== undefined) return { name, url: `${config.baseUrl}/oauth/consent/${encodeURIComponent(id)}` };
  if (!row.is_first_party) return undefined;

  const rules = { isNative: false, allowsLoopback: allowsLoopback(config, toFields(row)), redirectSchemes: [] };
  const isAllowed = (url: string | null): url is string =>
    url !== null && findRedirectUriFault(url, rules) === undefined;
  const home = isAllowed(row.home_url) ? row.home_url : null;
  if (isAllowed(row.initiate_login_uri)) {
    const hints = {
      iss: config.baseUrl,
      ...(accountId !== null && { login_hint: accountId }),
      ...(home !== null && { target_link_uri: home }),
    };
    return { name, url: withQuery(row.initiate_login_uri, hints) };
  }
  return home === null ? undefined : { name, url: home };
}

const toFields = ({ is_development: isDevelopment }: Row) => ({ isDevelopment });

/** Returns the id of a request that waits, unless the client has lost its redirect URI. */
function findRequest(
  { sealed_id: sealed, redirect_uri: uri, redirect_uris: redirectUris, is_native: isNative }: Row,
  encryption: Encryption,
): string | undefined {
  if (sealed === null || uri === null || !hasRedirectUri({ redirectUris, isNative }, uri)) return undefined;
  // After a rotation of SECRET_KEYS, the key of this request can be gone.
  return encryption.findKeyIndex(sealed) === -1 ? undefined : encryption.decrypt(sealed);
}

/** Adds parameters to a URL as it was registered: parsing and writing it could change its bytes. */
const withQuery = (url: string, parameters: Readonly<Record<string, string>>): string =>
  `${url}${url.includes('?') ? '&' : '?'}${new URLSearchParams(parameters).toString()}`;
