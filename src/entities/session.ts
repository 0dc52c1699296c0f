import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { base, instant, text } from './base.ts';

const SessionSchema = defineEntity({
  name: 'Session',
  tableName: 'session',
  properties: {
    ...base('ses'),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    /** SHA-256 of the cookie's token. */
    tokenHash: p.blob().unique('session_token_hash_unique').hidden(),
    authenticationType: text().nullable(),
    country: text().nullable(),
    city: text().nullable(),
    browser: text().nullable(),
    os: text().nullable(),
    deviceType: text().nullable(),
    /** Absolute expiry. */
    expiresAt: instant(),
    /** Expiry unless the session is used earlier. Written in batches outside the request. */
    idleExpiresAt: instant(),
    /** The last request, to the minute, and its IP address. Written in batches outside the request. */
    lastUsedAt: instant().nullable(),
    lastAddress: text().nullable(),
    revokedAt: instant().nullable(),
    /** Time of the last sign-in or re-authentication in this session. */
    provenAt: instant().nullable(),
  },
  indexes: [
    // Not only of open sessions: deleting the account finds all by it.
    { name: 'session_account_id_index', properties: ['account', 'revokedAt'] },
    {
      name: 'session_expiry_index',
      expression: 'create index "session_expiry_index" on "session" (least(expires_at, revoked_at))',
    },
  ],
});

export class Session extends SessionSchema.class {}
SessionSchema.setClass(Session);
