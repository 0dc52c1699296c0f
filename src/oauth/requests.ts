import Provider, { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { hashSecret } from '../crypto/tokens.ts';
import { command, query } from '../db/query.ts';
import { REQUEST_MINUTES } from '../resources/oauth-consent/lifetimes.ts';
import type { Services } from '../service/services.ts';
import type { Store } from './store.ts';
import { removeId, secondsUntil, toExp, type Payload } from './payload.ts';

const save = command<never>(
  'authorization_request_upsert',
  `insert into authorization_request (id_hash, payload, expires_at)
   values ($1, $2, now() + interval '${REQUEST_MINUTES} minutes')
   on conflict (id_hash) do update set payload = excluded.payload, expires_at = excluded.expires_at`,
);
const find = query<{ payload: Payload; result: Payload['result'] | null; seconds_left: number }>(
  'authorization_request_find',
  `select payload, result, ${secondsUntil('expires_at')} as seconds_left
   from authorization_request where id_hash = $1 and expires_at > now()`,
);
const remove = command<{ id_hash: Buffer }>(
  'authorization_request_delete',
  'delete from authorization_request where id_hash = $1 returning id_hash',
);
const bind = command<never>(
  'authorization_request_update_browser',
  'update authorization_request set browser_hash = $2, sealed_id = $3 where id_hash = $1',
);

/** Creates the store of authorization requests that wait for consent. The consent page's procedures write the decision. */
export function createRequestStore({ db, encryption }: Services): Store {
  /** Changes the id of a pushed request. It is a secret, which oidc-provider needs again after the decision. */
  const mapParJti = (payload: Payload, change: (id: string) => string): Payload =>
    typeof payload['parJti'] === 'string' ? { ...payload, parJti: change(payload['parJti']) } : payload;

  return {
    async upsert(id, payload) {
      const stored = mapParJti(removeId(payload), (parJti) => encryption.encrypt(parJti));
      await db.run(save, [hashSecret(id), JSON.stringify(stored)]);
    },
    async find(id) {
      const [row] = await db.query(find, [hashSecret(id)]);
      if (row === undefined) return undefined;
      if (Provider.ctx?.oidc.route === 'resume') await requireRedirectUri(Provider.ctx, row.payload);
      const payload = mapParJti(row.payload, (parJti) => encryption.decrypt(parJti));
      return {
        ...payload,
        jti: id,
        exp: toExp(row.seconds_left),
        ...(row.result === null ? {} : { result: row.result }),
      };
    },
    async destroy(id) {
      const rows = await db.run(remove, [hashSecret(id)]);
      // Of concurrent continuations only one gets a code.
      if (rows.length === 0 && Provider.ctx?.oidc.route === 'resume') {
        throw new errors.SessionNotFound('the authorization request was already answered');
      }
    },
  };
}

/**
 * Requires that the client still has the redirect URI, which oidc-provider checks only when a request begins. Otherwise
 * neither a code nor an error is sent there.
 */
async function requireRedirectUri({ oidc }: KoaContextWithOIDC, { params }: Payload): Promise<void> {
  const { client_id: clientId, redirect_uri: uri } = (params ?? {}) as Record<string, unknown>; // those of the request
  const client = await oidc.provider.Client.find(String(clientId));
  if (client?.redirectUriAllowed(String(uri)) === false) throw new errors.InvalidRedirectUri();
}

/** Binds a request to a browser. Only that browser can answer it, and continue it from an emailed link. */
export async function bindToBrowser(
  { db, encryption }: Pick<Services, 'db' | 'encryption'>,
  id: string,
  browserToken: string,
): Promise<void> {
  await db.run(bind, [hashSecret(id), hashSecret(browserToken), encryption.encrypt(id)]);
}
