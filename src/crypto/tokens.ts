import { hash, randomFillSync } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { generateRandomString } from '@oslojs/crypto/random';

/** The kinds of secrets, with the abbreviation that each secret contains, so that scanners and look-ups recognize it. */
export const SECRET_KINDS = {
  personalKey: 'pk',
  teamKey: 'tk',
  operatorKey: 'ok',
  accessToken: 'at',
  refreshToken: 'rt',
  authorizationCode: 'ac',
  clientSecret: 'cs',
  invitation: 'inv',
  session: 'ses',
  emailVerification: 'ev',
  passwordReset: 'pr',
  signInLink: 'si',
} as const;
export type SecretKind = keyof typeof SECRET_KINDS;

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 43 base62 digits contain 256 bits. */
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

const kinds = Object.entries(SECRET_KINDS) as [SecretKind, string][]; // Object.entries widens the keys to string

/** Returns the regular expression of all secrets of a brand, for secret scanners. */
export const secretPattern = (brand: string): RegExp =>
  new RegExp(`^${brand}_(${Object.values(SECRET_KINDS).join('|')})_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

export type Tokens = ReturnType<typeof createTokens>;

/**
 * Generates and parses the secrets of one brand:
 * `<brand>_<kind>_<43 random base62 digits><CRC-32 of all before it, in 6 base62 digits>`.
 */
export function createTokens(brand: string) {
  const kindsByPrefix = new Map(kinds.map(([kind, short]) => [`${brand}_${short}_`, kind]));

  return {
    /** Generates a secret, with its hash and the parts that can be displayed later. */
    generate(kind: SecretKind) {
      const body = `${brand}_${SECRET_KINDS[kind]}_${generateRandomString({ read: readRandom }, BASE62, RANDOM_LENGTH)}`;
      const secret = body + computeChecksum(body);
      const prefixLength = brand.length + SECRET_KINDS[kind].length + 2;
      return {
        secret,
        hash: hashSecret(secret),
        keyPrefix: secret.slice(0, prefixLength + 6),
        last4: secret.slice(-4),
      };
    },

    /** Returns the kind of a secret without I/O. @returns undefined if the format or the checksum is invalid */
    parseKind(secret: string): SecretKind | undefined {
      const bodyLength = secret.length - CHECKSUM_LENGTH;
      const kind = kindsByPrefix.get(secret.slice(0, bodyLength - RANDOM_LENGTH));
      return kind !== undefined && secret.slice(bodyLength) === computeChecksum(secret.slice(0, bodyLength))
        ? kind
        : undefined;
    },
  };
}

const pool = Buffer.alloc(4096);
let used = pool.length;

/** Fills bytes from a pool, because the library asks for each digit, and a system call for each takes 60 µs for a secret. */
function readRandom(bytes: Uint8Array): void {
  if (used + bytes.length > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  bytes.set(pool.subarray(used, used + bytes.length));
  // What a secret was made of is not kept.
  pool.fill(0, used, used + bytes.length);
  used += bytes.length;
}

/** Returns the SHA-256 of a secret, which is stored instead of the secret. */
export const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');

function computeChecksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
