import { defineEntity, p } from '@mikro-orm/core';
import { base, text } from './base.ts';

/** An RSA key that signs id tokens. The newest signs; the ones before stay published for what they have signed. */
const SigningKeySchema = defineEntity({
  name: 'SigningKey',
  tableName: 'signing_key',
  properties: {
    ...base('sig'),
    /** The public key as a JWK (RFC 7517). The id is its `kid`. */
    publicKey: p.json<Record<string, unknown>>(),
    /** The private key (PKCS #8, PEM), encrypted with `SECRET_KEYS`. */
    privateKey: text(),
  },
});

export class SigningKey extends SigningKeySchema.class {}
SigningKeySchema.setClass(SigningKey);
