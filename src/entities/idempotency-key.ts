import { defineEntity, p } from '@mikro-orm/core';
import { instant, text, textId } from './base.ts';

/** An `Idempotency-Key` of a call that succeeded, with what is needed to answer its repetition. Kept for a day. */
const IdempotencyKeySchema = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_key',
  properties: {
    /** SHA-256 of credential, operation and key. The key itself is not stored: it decrypts the answer. */
    keyHash: p.blob().primary(),
    credentialId: textId(),
    operation: text(),
    /** HMAC of the parsed input. */
    fingerprint: p.blob(),
    /** The answer as encrypted JSON; null if it contained a secret. */
    answer: text().nullable().hidden(),
    /** The resource whose secret the answer contained. */
    secretOf: textId().nullable(),
    createdAt: instant(),
  },
  indexes: [{ name: 'idempotency_key_created_index', properties: ['createdAt'] }],
});

export class IdempotencyKey extends IdempotencyKeySchema.class {}
IdempotencyKeySchema.setClass(IdempotencyKey);
