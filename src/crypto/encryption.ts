import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const IV_LENGTH = 12;
const TAG_LENGTH = 16;

/** Seals text with AES-256-GCM for the time it has to rest in a job row. */
export type Sealer = {
  seal(text: string): string;
  /** Opens what any of the keys sealed; throws on anything else. */
  open(sealed: string): string;
  /** Returns which of the keys sealed the text, in their order; -1 if none did. */
  keyIndexOf(sealed: string): number;
  /** Keys for another purpose, derived from the same secrets and in their order. */
  keysFor(purpose: string): readonly Buffer[];
};

/** @param secretKeys `SECRET_KEYS`: the first one seals, all of them open. */
export function createSealer(secretKeys: readonly string[]): Sealer {
  const keysFor = (purpose: string) =>
    secretKeys.map((key) => Buffer.from(hkdfSync('sha256', key, '', `roster:${purpose}`, 32)));
  const keys = keysFor('seal');
  const [first] = keys;
  if (first === undefined) throw new Error('A sealer needs a key.');

  return {
    keysFor,
    seal(text) {
      const iv = randomBytes(IV_LENGTH);
      const cipher = createCipheriv('aes-256-gcm', first, iv);
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    open(sealed) {
      for (const key of keys) {
        const text = decrypt(sealed, key);
        if (text !== undefined) return text;
      }
      throw new Error('Decryption failed with every key in SECRET_KEYS.');
    },
    keyIndexOf: (sealed) => keys.findIndex((key) => decrypt(sealed, key) !== undefined),
  };
}

/** @returns undefined if another key encrypted the text, or if it is damaged */
function decrypt(sealed: string, key: Buffer): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url');
  if (bytes.length < IV_LENGTH + TAG_LENGTH) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_LENGTH));
  decipher.setAuthTag(bytes.subarray(IV_LENGTH, IV_LENGTH + TAG_LENGTH));
  try {
    return decipher.update(bytes.subarray(IV_LENGTH + TAG_LENGTH), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return undefined;
  }
}
