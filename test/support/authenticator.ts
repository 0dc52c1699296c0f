import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

const FLAGS = { present: 0x01, verified: 0x04, attested: 0x40 };

type CreationOptions = { challenge: string; rp: { id: string }; user: { id: string } };
type RequestOptions = { challenge: string; rpId: string };

/** What a response says otherwise than an honest browser and authenticator would. */
type Lies = {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  userVerified?: boolean;
  /** In place of the next one. */
  counter?: number;
  userHandle?: string | undefined;
  attestation?: { fmt: string; attStmt: Map<string, unknown> };
  signature?: string;
};

/** An authenticator with one ES256 passkey, and the browser before it, in software. */
export function createAuthenticator({ origin = 'http://localhost:3000', counts = true } = {}) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const id = randomBytes(32);
  const credential = { id: id.toString('base64url'), rawId: id.toString('base64url'), type: 'public-key' as const };
  let userHandle: string | undefined;
  let counter = 0;
  const nextCounter = () => (counts ? ++counter : 0);

  const clientData = (type: string, challenge: string, lies: Lies) =>
    Buffer.from(
      JSON.stringify({
        type: lies.type ?? type,
        challenge: lies.challenge ?? challenge,
        origin: lies.origin ?? origin,
        crossOrigin: false,
      }),
    );

  const authenticatorData = (rpId: string, flags: number, lies: Lies, rest: Buffer = Buffer.alloc(0)) => {
    const head = Buffer.alloc(5);
    head[0] = FLAGS.present | (lies.userVerified === false ? 0 : FLAGS.verified) | flags;
    head.writeUInt32BE(lies.counter ?? nextCounter(), 1);
    return Buffer.concat([sha256(lies.rpId ?? rpId), head, rest]);
  };

  return {
    credentialId: credential.id,

    /** `navigator.credentials.create`, as JSON. */
    create(options: CreationOptions, lies: Lies = {}) {
      userHandle = options.user.id;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const attested = Buffer.concat([Buffer.alloc(16), length, id, coseKey(publicKey)]);
      const authData = authenticatorData(options.rp.id, FLAGS.attested, lies, attested);
      const { fmt, attStmt } = lies.attestation ?? { fmt: 'none', attStmt: new Map() };
      return {
        ...credential,
        response: {
          clientDataJSON: clientData('webauthn.create', options.challenge, lies).toString('base64url'),
          attestationObject: cbor(
            new Map<string, unknown>([
              ['fmt', fmt],
              ['attStmt', attStmt],
              ['authData', new Uint8Array(authData)],
            ]),
          ).toString('base64url'),
          transports: ['internal'],
        },
        clientExtensionResults: {},
      };
    },

    /** `navigator.credentials.get`, as JSON. */
    get(options: RequestOptions, lies: Lies = {}) {
      const data = clientData('webauthn.get', options.challenge, lies);
      const authData = authenticatorData(options.rpId, 0, lies);
      const signature = sign('sha256', Buffer.concat([authData, sha256(data)]), privateKey);
      return {
        ...credential,
        response: {
          clientDataJSON: data.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          signature: lies.signature ?? signature.toString('base64url'),
          userHandle: 'userHandle' in lies ? lies.userHandle : userHandle,
        },
        clientExtensionResults: {},
      };
    },
  };
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();

const cbor = (value: Map<string, unknown> | Map<number, unknown>): Buffer =>
  Buffer.from(isoCBOR.encode(value as Parameters<typeof isoCBOR.encode>[0])); // maps of what CBOR knows

/** RFC 9053, section 7.1.1: an elliptic curve key for ES256. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
  return cbor(
    new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ]),
  );
}
