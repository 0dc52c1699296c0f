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
    /** The authenticator's own id of the credential, in base64url. */
    credentialId: text().collation('C').unique('passkey_credential_id_unique'),
    publicKey: p.blob(),
    /** How often the authenticator has signed, where it counts; a step back is a cloned one. */
    counter: p.integer().columnType('bigint').$type<number>(),
    transports: p.array().columnType('text[]').$type<string[]>(),
    lastUsedAt: instant().nullable(),
  },
  indexes: [{ name: 'passkey_account_index', properties: ['account'] }],
});

export class Passkey extends PasskeySchema.class {}
PasskeySchema.setClass(Passkey);

/** A question to an authenticator, answered once within minutes. */
const PasskeyChallengeSchema = defineEntity({
  name: 'PasskeyChallenge',
  tableName: 'passkey_challenge',
  properties: {
    ...base('chl'),
    challenge: text().collation('C').unique('passkey_challenge_unique'),
    /** Who registers; null for a sign-in, where it is not known yet. */
    account: () => p.manyToOne(Account).nullable().deleteRule('cascade'),
    expiresAt: instant(),
  },
  indexes: [{ name: 'passkey_challenge_expiry_index', properties: ['expiresAt'] }],
});

export class PasskeyChallenge extends PasskeyChallengeSchema.class {}
PasskeyChallengeSchema.setClass(PasskeyChallenge);
