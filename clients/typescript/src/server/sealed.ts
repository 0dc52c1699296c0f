import { CompactEncrypt, compactDecrypt } from 'jose';

const ENCRYPTION = { alg: 'dir', enc: 'A256GCM' } as const;
const SECRET_LENGTH_MIN = 32;

type Envelope = { readonly purpose: string; readonly until: number; readonly value: unknown };

/** Encrypts values that a browser keeps and cannot read or change, each for one purpose and time. */
export type Sealer = {
  seal(purpose: string, value: unknown, seconds: number): Promise<string>;
  /** @returns undefined if the text was sealed for another purpose, by another key, or too long ago */
  open<Value>(purpose: string, sealed: string): Promise<Value | undefined>;
};

/**
 * @param secrets the first one encrypts, all of them decrypt, so that a secret can be replaced without signing users out
 * @param clientId of the application: another one with the same secret decrypts nothing
 */
export function createSealer(secrets: readonly string[], clientId: string): Sealer {
  if (secrets.length === 0 || secrets.some((secret) => secret.length < SECRET_LENGTH_MIN))
    throw new TypeError(
      `\`secret\` needs at least ${SECRET_LENGTH_MIN} characters, such as 32 random bytes in base64.`,
    );
  const keys = Promise.all(secrets.map((secret) => deriveKey(secret, clientId)));
  return {
    async seal(purpose, value, seconds) {
      const [key] = await keys;
      const envelope: Envelope = { purpose, until: Date.now() + seconds * 1000, value };
      const text = await deflate(JSON.stringify(envelope));
      return new CompactEncrypt(text).setProtectedHeader(ENCRYPTION).encrypt(key as Uint8Array); // there is at least one
    },
    async open<Value>(purpose: string, sealed: string) {
      for (const key of await keys) {
        const text = await compactDecrypt(sealed, key, {
          keyManagementAlgorithms: [ENCRYPTION.alg],
          contentEncryptionAlgorithms: [ENCRYPTION.enc],
        }).then(
          ({ plaintext }) => inflate(plaintext),
          () => undefined,
        );
        if (text === undefined) continue;
        const { purpose: sealedFor, until, value } = JSON.parse(text) as Envelope; // only `seal` can have written it
        return sealedFor === purpose && until > Date.now() ? (value as Value) : undefined;
      }
      return undefined;
    },
  };
}

const deriveKey = async (secret: string, clientId: string): Promise<Uint8Array> => {
  const text = new TextEncoder().encode(`roster cookies\n${clientId}\n${secret}`);
  return new Uint8Array(await crypto.subtle.digest('SHA-256', text));
};

// Roles can hold hundreds of permissions, and a cookie has 4 KB.
const deflate = async (text: string): Promise<Uint8Array> =>
  new Uint8Array(await pipe(text, new CompressionStream('deflate-raw')).arrayBuffer());

const inflate = (bytes: Uint8Array): Promise<string> => pipe(bytes, new DecompressionStream('deflate-raw')).text();

type Body = ConstructorParameters<typeof Response>[0];

const pipe = (content: string | Uint8Array, through: CompressionStream | DecompressionStream): Response => {
  const { body } = new Response(content as Body);
  return new Response(body?.pipeThrough(through as never) as Body); // bytes on both sides, which libraries type differently
};
