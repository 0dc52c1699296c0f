import Provider, { errors } from 'oidc-provider';
import { hashSecret } from '../crypto/tokens.ts';
import { command, query, type CommandRunner } from '../db/query.ts';
import type { Services } from '../app-services.ts';
import type { Store } from './store.ts';
import { removeId, type Payload } from './payload.ts';

const save = command<never>(
  'save_authorization_request',
  `insert into authorization_request (id_hash, payload, expires_at)
   values ($1, $2, now() + make_interval(secs => $3))
   on conflict (id_hash) do update set payload = excluded.payload, expires_at = excluded.expires_at`,
);
const find = query<{ payload: Payload; result: Payload['result'] | null }>(
  'find_authorization_request',
  'select payload, result from authorization_request where id_hash = $1 and expires_at > now()',
);
const remove = command<{ id_hash: Buffer }>(
  'delete_authorization_request',
  'delete from authorization_request where id_hash = $1 returning id_hash',
);
const bind = command<never>(
  'bind_authorization_request',
  'update authorization_request set browser_hash = $2 where id_hash = $1',
);

/** Creates the store of authorization requests that wait for consent. The consent page's procedures write the decision. */
export function createRequestStore({ db, encryption }: Services): Store {
  /** Changes the id of a pushed request. It is a secret, which oidc-provider needs again after the decision. */
  const mapParJti = (payload: Payload, change: (id: string) => string): Payload =>
    typeof payload['parJti'] === 'string' ? { ...payload, parJti: change(payload['parJti']) } : payload;

  return {
    async upsert(id, payload, expiresIn = 0) {
      const stored = mapParJti(removeId(payload), (parJti) => encryption.encrypt(parJti));
      await db.run(save, [hashSecret(id), JSON.stringify(stored), expiresIn]);
    },
    async find(id) {
      const [row] = await db.query(find, [hashSecret(id)]);
      if (row === undefined) return undefined;
      const payload = mapParJti(row.payload, (parJti) => encryption.decrypt(parJti));
      return { ...payload, jti: id, ...(row.result === null ? {} : { result: row.result }) };
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

/** Binds a request to a browser. Only that browser can answer it. */
export async function bindToBrowser(db: CommandRunner, id: string, browserToken: string): Promise<void> {
  await db.run(bind, [hashSecret(id), hashSecret(browserToken)]);
}
