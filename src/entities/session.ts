import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { base, instant, text } from './base.ts';

/** The ways in which a user can prove who they are. Later ones need no migration. */
export type ProofMethod = 'password' | 'link' | 'passkey';

/** What was proved, and when: the time of the last proof by each method. */
export type Proofs = Readonly<Partial<Record<ProofMethod, string>>>;

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
    /** What the session proves. Null in sessions that a process of the previous version created: see `proofsOf`. */
    proofs: p.json<Proofs>().nullable(),
    /**
     * The time of the last proof. Processes of the previous version know only this, and can run beside this version, so
     * both are written, and the later one counts: see `lastProofOf`.
     */
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
  checks: [
    {
      name: 'session_proofs_check',
      expression: `jsonb_typeof(proofs) = 'object' and length(proofs::text) <= 4000`,
    },
  ],
});

export class Session extends SessionSchema.class {}
SessionSchema.setClass(Session);
