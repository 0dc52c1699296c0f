import { defineEntity, p } from '@mikro-orm/core';
import { base, instant, text, textId } from './base.ts';

/** A sign-up whose email address is not verified yet. It becomes an account once its emailed link is followed. */
const SignUpAttemptSchema = defineEntity({
  name: 'SignUpAttempt',
  tableName: 'sign_up_attempt',
  properties: {
    ...base('sua'),
    /** The id that the account gets. */
    accountId: textId(),
    email: text(),
    firstName: text().nullable(),
    lastName: text().nullable(),
    passwordHash: text().hidden(),
    /** SHA-256 of the device token of the browser that signed up. */
    browserHash: p.blob(),
    /** The application at which it began. No reference: it is looked up when the link is used. */
    clientId: textId().nullable(),
    /** SHA-256 of the link's token; null until the link is emailed, which an address with a verified account gets none of. */
    tokenHash: p.blob().nullable().unique('sign_up_attempt_token_hash_unique').hidden(),
    /** SHA-256 of the session cookie's token in that browser. */
    sessionTokenHash: p.blob().nullable().unique('sign_up_attempt_session_token_hash_unique').hidden(),
    expiresAt: instant(),
  },
  indexes: [
    {
      name: 'sign_up_attempt_email_index',
      expression: 'create index "sign_up_attempt_email_index" on "sign_up_attempt" (lower("email"), "created_at")',
    },
    { name: 'sign_up_attempt_expiry_index', properties: ['expiresAt'] },
  ],
});

export class SignUpAttempt extends SignUpAttemptSchema.class {}
SignUpAttemptSchema.setClass(SignUpAttempt);
