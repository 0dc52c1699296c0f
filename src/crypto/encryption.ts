import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes, type KeyObject } from 'node:crypto';

const IV_LENGTH = 12;
const TAG_LENGTH = 16;

/** Encryption of stored text with AES-256-GCM, for example of tokens in job rows. */
export type Encryption = {
  /** @returns base64url of IV, authentication tag and ciphertext */
  encrypt(text: string): string;
  /** Decrypts text that any of the keys encrypted. @throws for anything else */
  decrypt(encrypted: string): string;
  /** Encrypts text for another purpose and one context, such as a list and the credential that reads it. */
  encryptFor(purpose: string, context: string, text: string): string;
  /** @returns undefined for anything but text that was encrypted for the same purpose and context */
  decryptFor(purpose: string, context: string, encrypted: string): string | undefined;
  /** Returns the index of the key that encrypted the text; -1 if none did. */
  findKeyIndex(encrypted: string): number;
  /** Keys for another purpose, derived from the same secrets and in their order. */
  keysFor(purpose: string): readonly KeyObject[];
};

/** @param secretKeys `SECRET_KEYS`: the first key encrypts, all of them decrypt */
export function createEncryption(secretKeys: readonly string[]): Encryption {
  const derived = new Map<string, readonly KeyObject[]>();
  // Derived once, and as key objects, because an HMAC takes five times as long with the bytes of its key.
  const keysFor = (purpose: string) => {
    const keys = derived.get(purpose) ?? secretKeys.map((key) => deriveKey(key, purpose));
    derived.set(purpose, keys);
    return keys;
  };
  const keys = keysFor('seal');
  const [first] = keys;
  if (first === undefined) throw new Error('SECRET_KEYS is empty.');

  return {
    keysFor,
    encrypt: (text) => encryptWith(first, text),
    decrypt(encrypted) {
      for (const key of keys) {
        const text = decryptWith(key, encrypted);
        if (text !== undefined) return text;
      }
      throw new Error('Decryption failed with every key in SECRET_KEYS.');
    },
    encryptFor: (purpose, context, text) => encryptWith(keysFor(purpose)[0] ?? first, text, context),
    decryptFor(purpose, context, encrypted) {
      for (const key of keysFor(purpose)) {
        const text = decryptWith(key, encrypted, context);
        if (text !== undefined) return text;
      }
      return undefined;
    },
    findKeyIndex: (encrypted) => keys.findIndex((key) => decryptWith(key, encrypted) !== undefined),
  };
}

const deriveKey = (secret: string, purpose: string): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', `roster:${purpose}`, 32)));

/** @param context authenticated with the text, and not part of the result */
function encryptWith(key: KeyObject, text: string, context = ''): string {
  const iv = randomBytes(IV_LENGTH);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), ciphertext]).toString('base64url');
}

/** @returns undefined if another key or context encrypted the text, or if it is damaged */
function decryptWith(key: KeyObject, encrypted: string, context = ''): string | undefined {
  const bytes = Buffer.from(encrypted, 'base64url');
  if (bytes.length < IV_LENGTH + TAG_LENGTH) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_LENGTH));
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(IV_LENGTH, IV_LENGTH + TAG_LENGTH));
  try {
    return decipher.update(bytes.subarray(IV_LENGTH + TAG_LENGTH), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    return undefined;
  }
}
