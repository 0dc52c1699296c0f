import { defineEntity, p } from '@mikro-orm/core';
import { base, instant, isExpired, text } from './base.ts';

/** The scopes of operator keys, in the order of the documentation. */
export const OPERATOR_SCOPES = [
  'accounts:read',
  'accounts:write',
  'teams:read',
  'teams:write',
  'billing:write',
  'credentials:verify',
  'events:read',
  'webhooks:write',
  'clients:write',
  'keys:write',
] as const;
export type OperatorScope = (typeof OPERATOR_SCOPES)[number];

/** A credential of the company that runs this instance. It belongs to no account, and only the operator API accepts it. */
const OperatorKeySchema = defineEntity({
  name: 'OperatorKey',
  tableName: 'operator_key',
  properties: {
    ...base('opk'),
    name: text(),
    scopes: p.array().columnType('text[]').$type<OperatorScope[]>(),
    /** IP addresses and networks in CIDR notation that can use the key; empty for all. */
    addresses: p.array().columnType('text[]').$type<string[]>(),
    keyPrefix: text(),
    last4: text(),
    /** Precise to the minute. Written in batches outside the request. */
    lastUsedAt: instant().nullable(),
    expiresAt: instant().nullable(),
    isExpired: isExpired(),
    revokedAt: instant().nullable(),
  },
  checks: [
    {
      name: 'operator_key_scopes_check',
      expression: `scopes <@ array[${OPERATOR_SCOPES.map((scope) => `'${scope}'`).join(', ')}]`,
    },
    { name: 'operator_key_scopes_not_empty', expression: 'cardinality(scopes) > 0' },
  ],
});

export class OperatorKey extends OperatorKeySchema.class {}
OperatorKeySchema.setClass(OperatorKey);

const OperatorKeySecretSchema = defineEntity({
  name: 'OperatorKeySecret',
  tableName: 'operator_key_secret',
  properties: {
    /** SHA-256 of the secret, which is not stored. */
    secretHash: p.blob().primary(),
    operatorKey: () => p.manyToOne(OperatorKey).deleteRule('cascade'),
    createdAt: instant().onCreate(() => new Date()),
    /** Expiry of the old secret after a rotation; until then both are valid. */
    expiresAt: instant().nullable(),
  },
  indexes: [
    { name: 'operator_key_secret_operator_key_index', properties: ['operatorKey'] },
    {
      name: 'operator_key_secret_expiry_index',
      expression:
        'create index "operator_key_secret_expiry_index" on "operator_key_secret" ("expires_at") where expires_at is not null',
    },
  ],
});

export class OperatorKeySecret extends OperatorKeySecretSchema.class {}
OperatorKeySecretSchema.setClass(OperatorKeySecret);
