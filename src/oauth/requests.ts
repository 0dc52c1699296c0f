import Provider, { errors } from 'oidc-provider';
import { hashSecret } from '../crypto/tokens.ts';
import { command, query, type CommandRunner } from '../db/query.ts';
import type { Services } from '../app-services.ts';
import type { Store } from './store.ts';
import { withoutId, type Payload } from './payload.ts';

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

/** Requests that wait for consent. What was decided is written by the consent page's procedures. */
export function requestStore({ db, encryption }: Services): Store {
  /** The id of a pushed request is a secret, which the engine asks for again when the request was decided. */
  const withParJti = (payload: Payload, change: (id: string) => string): Payload =>
    typeof payload['parJti'] === 'string' ? { ...payload, parJti: change(payload['parJti']) } : payload;

  return {
    async upsert(id, payload, expiresIn = 0) {
      const stored = withParJti(withoutId(payload), (parJti) => encryption.encrypt(parJti));
      await db.run(save, [hashSecret(id), JSON.stringify(stored), expiresIn]);
    },
    async find(id) {
      const [row] = await db.query(find, [hashSecret(id)]);
      if (row === undefined) return undefined;
      const payload = withParJti(row.payload, (parJti) => encryption.decrypt(parJti));
      return { ...payload, jti: id, ...(row.result === null ? {} : { result: row.result }) };
    },
    async destroy(id) {
      const rows = await db.run(remove, [hashSecret(id)]);
      // Of two that go on at once only one gets a code.
      if (rows.length === 0 && Provider.ctx?.oidc.route === 'resume') {
        throw new errors.SessionNotFound('the authorization request was answered already');
      }
    },
  };
}

/** From now on the request is decided in this browser, and nowhere else. */
export async function bindToBrowser(db: CommandRunner, id: string, browserToken: string): Promise<void> {
  await db.run(bind, [hashSecret(id), hashSecret(browserToken)]);
}
