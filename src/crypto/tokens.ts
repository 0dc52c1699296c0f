import { hash, randomFillSync } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { generateRandomString } from '@oslojs/crypto/random';

/** What a secret is for; the kind is part of its text, so that scanners and look-ups can tell. */
export const SECRET_KINDS = {
  personalKey: 'pk',
  teamKey: 'tk',
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
/** 43 base62 digits carry 256 bits. */
const RANDOM_LENGTH = 43;
const CHECKSUM_LENGTH = 6;

const kinds = Object.entries(SECRET_KINDS) as [SecretKind, string][]; // Object.entries widens the keys to string

/** The regular expression of every secret of this brand, for secret scanners. */
export const secretPattern = (brand: string): RegExp =>
  new RegExp(`^${brand}_(${Object.values(SECRET_KINDS).join('|')})_[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

export type Tokens = ReturnType<typeof createTokens>;

/**
 * Generates and parses the secrets of one brand:
 * `<brand>_<kind>_<43 random base62 digits><CRC-32 of all before it, in 6 base62 digits>`.
 */
export function createTokens(brand: string) {
  const kindOfPrefix = new Map(kinds.map(([kind, short]) => [`${brand}_${short}_`, kind]));

  return {
    /** A new secret, with what may be shown of it later. */
    generate(kind: SecretKind) {
      const body = `${brand}_${SECRET_KINDS[kind]}_${generateRandomString({ read: randomFillSync }, BASE62, RANDOM_LENGTH)}`;
      const secret = body + checksum(body);
      const prefixLength = brand.length + SECRET_KINDS[kind].length + 2;
      return {
        secret,
        hash: hashSecret(secret),
        keyPrefix: secret.slice(0, prefixLength + 6),
        last4: secret.slice(-4),
      };
    },

    /** The kind of a well-formed secret with a right checksum, else undefined. Does no I/O. */
    parseKind(secret: string): SecretKind | undefined {
      const bodyLength = secret.length - CHECKSUM_LENGTH;
      const kind = kindOfPrefix.get(secret.slice(0, bodyLength - RANDOM_LENGTH));
      return kind !== undefined && secret.slice(bodyLength) === checksum(secret.slice(0, bodyLength))
        ? kind
        : undefined;
    },
  };
}

/** What is stored of a secret: its SHA-256. */
export const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
