import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { base, instant, text } from './base.ts';

const PasskeySchema = defineEntity({
  name: 'Passkey',
  tableName: 'passkey',
  properties: {
    ...base('psk'),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    name: text(),
    /** The credential id of the authenticator, in base64url. */
    credentialId: text().collation('C').unique('passkey_credential_id_unique'),
    publicKey: p.blob(),
    /** Signature counter, if the authenticator has one. A decrease indicates a cloned authenticator. */
    counter: p.integer().columnType('bigint').$type<number>(),
    transports: p.array().columnType('text[]').$type<string[]>(),
    lastUsedAt: instant().nullable(),
  },
  indexes: [{ name: 'passkey_account_index', properties: ['account'] }],
});

export class Passkey extends PasskeySchema.class {}
PasskeySchema.setClass(Passkey);

/** A WebAuthn challenge. It expires within minutes and can be used once. */
const PasskeyChallengeSchema = defineEntity({
  name: 'PasskeyChallenge',
  tableName: 'passkey_challenge',
  properties: {
    ...base('chl'),
    challenge: text().collation('C').unique('passkey_challenge_unique'),
    /** The account that registers a passkey or proves one; null for a sign-in, whose account is not known yet. */
    account: () => p.manyToOne(Account).nullable().deleteRule('cascade'),
    /** The session that asked for it, and alone can answer it. */
    sessionId: text().nullable(),
    expiresAt: instant(),
  },
  indexes: [
    { name: 'passkey_challenge_expiry_index', properties: ['expiresAt'] },
    {
      name: 'passkey_challenge_account_index',
      expression:
        'create index "passkey_challenge_account_index" on "passkey_challenge" ("account_id") where account_id is not null',
    },
  ],
});

export class PasskeyChallenge extends PasskeyChallengeSchema.class {}
PasskeyChallengeSchema.setClass(PasskeyChallenge);
