import { createPublicKey, type KeyObject } from 'node:crypto';
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { readTextFile } from './text-file.ts';
import { readBy } from './values.ts';

/** A file in PEM format. @returns its content */
export const pemFile = () =>
  readBy((path) => {
    const pem = existsSync(path) ? readTextFile(path) : undefined;
    if (pem === undefined) throw new Error(`${path} does not exist`);
    if (!pem.includes('-----BEGIN ')) throw new Error(`${path} is not in PEM format`);
    return pem;
  });

const publicKeys = z.object({
  public_keys: z.array(z.object({ key_identifier: z.string().min(1), key: z.string() })).min(1),
});

/** Public keys by their identifier, read from a JSON file in the format of GitHub's API. */
export const githubKeys = () =>
  readBy((file): ReadonlyMap<string, KeyObject> => {
    if (!existsSync(file)) throw new Error(`${file} does not exist`);
    try {
      const { public_keys: keys } = publicKeys.parse(JSON.parse(readTextFile(file)));
      return new Map(keys.map(({ key_identifier: id, key }) => [id, readEcdsaKey(key)]));
    } catch {
      throw new Error(`${file} is not the answer of https://api.github.com/meta/public_keys/secret_scanning`);
    }
  });

function readEcdsaKey(pem: string): KeyObject {
  const key = createPublicKey(pem);
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('not an ECDSA key of P-256');
  return key;
}

/** Parses `SECRET_KEYS`. The first key signs and encrypts; all keys verify and decrypt. */
export function readSecretKeys(text: string): readonly string[] {
  const keys = text.split(',').map((key) => key.trim());
  if (keys.some((key) => !/^[\x21-\x7e]{32,}$/.test(key)))
    throw new Error('each key needs at least 32 ASCII characters without spaces');
  return keys;
}

export const secretKeys = () => readBy(readSecretKeys);
