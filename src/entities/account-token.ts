import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';
import { instant, text, textId } from './base.ts';

export const TOKEN_PURPOSES = ['verify_email', 'change_email', 'reset_password', 'sign_in'] as const;
export type TokenPurpose = (typeof TOKEN_PURPOSES)[number];

/**
 * A single-use link in an email, which verifies an email address. The row is deleted when the link is used, except that of a
 * change of address: as `changed_email`, it opens nothing, and its user can be told what became of it.
 */
const AccountTokenSchema = defineEntity({
  name: 'AccountToken',
  tableName: 'account_token',
  properties: {
    /** SHA-256 of the link's token. */
    tokenHash: p.blob().primary(),
    account: () => p.manyToOne(Account).deleteRule('cascade'),
    purpose: text().$type<TokenPurpose | 'changed_email'>(),
    /** The email address that the link was sent to and verifies. */
    email: text(),
    /** The application at which its request began. No reference: it is looked up when the link is used. */
    clientId: textId().nullable(),
    createdAt: instant().onCreate(() => new Date()),
    expiresAt: instant(),
  },
  indexes: [
    { name: 'account_token_account_index', properties: ['account', 'purpose'] },
    { name: 'account_token_expiry_index', properties: ['expiresAt'] },
  ],
  checks: [
    {
      name: 'account_token_purpose_check',
      expression: `purpose in ('verify_email', 'change_email', 'changed_email', 'reset_password', 'sign_in')`,
    },
  ],
});

export class AccountToken extends AccountTokenSchema.class {}
AccountTokenSchema.setClass(AccountToken);
