import { createPrivateKey, createPublicKey, generateKeyPair, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { Services } from '../../service/services.ts';
import { command, query, type QueryRunner } from '../../db/query.ts';
import { newId } from '../../entities/index.ts';
import { recordNow } from '../../transactions/record-now.ts';

const MODULUS_BITS = 2048;
/** The signing key and those before it, whose id tokens are still shown as hints. */
const KEPT = 3;

type Row = { id: string; public_key: Record<string, string>; private_key: string };

const findKeys = query<Row>(
  'signing_key_list',
  'select id, public_key, private_key from signing_key order by created_at desc, id desc',
);
const saveKey = command<never>(
  'signing_key_insert',
  `insert into signing_key (id, created_at, public_key, private_key)
   select $1, clock_timestamp(), $2, $3 where $4 or not exists (select from signing_key)`,
);
const dropOldKeys = command<never>(
  'signing_key_delete_old',
  `delete from signing_key where id not in (
     select id from signing_key order by created_at desc, id desc limit ${KEPT})`,
);

/** Returns the public keys as a JWK set (RFC 7517), newest first. */
export async function listPublicKeys(db: QueryRunner): Promise<Record<string, string>[]> {
  const rows = await db.query(findKeys, []);
  return rows.map(({ id, public_key: key }) => ({ ...key, kid: id, use: 'sig', alg: 'RS256' }));
}

/** Creates a new signing key. Those before it stay published, up to three in all. */
export async function rotateKeys(services: Services): Promise<string[]> {
  await createKey(services, true);
  await services.db.run(dropOldKeys, []);
  const kids = (await services.db.query(findKeys, [])).map(({ id }) => id);
  await recordNow(services.db, 'operator.signing_keys_rotated', { number: kids.length });
  return kids;
}

/**
 * Signs claims with the newest key (RS256, RFC 7515). The first signature of an installation creates its key.
 * @param typ the type of the token, so that none is taken for another (RFC 8725, section 3.11)
 */
export async function signClaims(
  services: Services,
  claims: Readonly<Record<string, unknown>>,
  typ: 'JWT' | 'logout+jwt' = 'JWT',
): Promise<string> {
  const [found] = await services.db.query(findKeys, []);
  const { id: kid, private_key: sealed } = found ?? (await createFirstKey(services));
  const text = `${encode({ alg: 'RS256', typ, kid })}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(text), createPrivateKey(services.encryption.decrypt(sealed)));
  return `${text}.${signature.toString('base64url')}`;
}

/**
 * Returns the claims of an id token that one of the published keys signed. It can have expired.
 * @returns undefined for anything else
 */
export async function readSigned(db: QueryRunner, token: string): Promise<Record<string, unknown> | undefined> {
  const [head = '', body = '', signature = '', ...more] = token.split('.');
  const header = decode(head);
  // Only this algorithm, whatever the header says, and no logout token.
  if (more.length > 0 || header?.['alg'] !== 'RS256' || header['typ'] !== 'JWT') return undefined;
  const key = (await db.query(findKeys, [])).find(({ id }) => id === header['kid']);
  if (key === undefined) return undefined;
  const publicKey = createPublicKey({ key: key.public_key, format: 'jwk' });
  const isValid = verify('sha256', Buffer.from(`${head}.${body}`), publicKey, Buffer.from(signature, 'base64url'));
  return isValid ? decode(body) : undefined;
}

async function createFirstKey(services: Services): Promise<Row> {
  await createKey(services, false);
  const [row] = await services.db.query(findKeys, []);
  if (row === undefined) throw new Error('there is no signing key');
  return row;
}

const generate = promisify(generateKeyPair);

/** @param isAnother creates it also if there is one */
async function createKey({ db, encryption }: Services, isAnother: boolean): Promise<void> {
  const { publicKey, privateKey } = await generate('rsa', { modulusLength: MODULUS_BITS });
  const sealed = encryption.encrypt(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  const values = [newId('sig'), JSON.stringify(publicKey.export({ format: 'jwk' })), sealed, isAnother];
  await db.run(saveKey, values);
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function decode(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
