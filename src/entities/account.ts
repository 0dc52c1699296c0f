import { defineEntity } from '@mikro-orm/core';
import { base, externalId, instant, text, textId } from './base.ts';
import { metadataChecks, metadataColumns } from './metadata.ts';

export const ACCOUNT_ROLES = ['user', 'admin'] as const;

const AccountSchema = defineEntity({
  name: 'Account',
  tableName: 'account',
  properties: {
    ...base('acc'),
    email: text().nullable(),
    /** The id of the account in the operator's own system. */
    externalId: externalId(),
    firstName: text().nullable(),
    lastName: text().nullable(),
    /** An `admin` is an operator of this instance, without permissions in teams. */
    role: text().$type<(typeof ACCOUNT_ROLES)[number]>().default('user'),
    avatar: text().nullable(),
    preferredLocale: text().nullable(),
    /** Until then, security notices are in `noticeLocale`: a session without a recent proof changed the language. */
    noticeLocaleUntil: instant().nullable(),
    noticeLocale: text().nullable(),
    emailVerifiedAt: instant().nullable(),
    /** The last proven address of an account that the operator moved to one that is not proven yet. */
    provenEmail: text().nullable(),
    passwordHash: text().nullable().hidden(),
    /** `operator` if the operator created the account: its password and keys stay valid once its email address is verified. */
    createdBy: text().$type<'operator'>().nullable(),
    /** Credentials of a disabled account are rejected. Enabling the account restores its keys and grants. */
    disabledAt: instant().nullable(),
    /** The import that created it, whose own rows can have no events. Not deleted with the import. */
    importId: textId().nullable(),
    ...metadataColumns(),
    updatedAt: instant()
      .onCreate(() => new Date())
      .onUpdate(() => new Date()),
  },
  uniques: [
    { name: 'account_external_id_unique', properties: ['externalId'] },
    {
      name: 'account_email_unique',
      // This operator class supports equality and, in any collation, prefix searches.
      expression: 'create unique index "account_email_unique" on "account" (lower("email") text_pattern_ops)',
    },
  ],
  indexes: [
    {
      name: 'account_id_hash_index',
      // Look-ups by id read half as many pages as in the primary key: members of a team are on different pages.
      expression: 'create index "account_id_hash_index" on "account" using hash ("id")',
    },
    {
      name: 'account_foreign_hash_index',
      expression: `create index "account_foreign_hash_index" on "account" (split_part(password_hash, '$', 2)) where password_hash not like '$argon2id$%'`,
    },
    {
      name: 'account_name_page_index',
      expression: `create index "account_name_page_index" on "account" ((lower(ltrim(coalesce("first_name", '') || ' ' || coalesce("last_name", ''))) collate "C"), "id")`,
    },
    {
      name: 'account_last_name_page_index',
      expression: `create index "account_last_name_page_index" on "account" ((lower("last_name") collate "C"), "id")`,
    },
    {
      name: 'account_disabled_index',
      expression: 'create index "account_disabled_index" on "account" ("id") where disabled_at is not null',
    },
    {
      name: 'account_operator_index',
      expression: `create index "account_operator_index" on "account" ("id") where role = 'admin'`,
    },
    {
      name: 'account_no_email_index',
      expression: 'create index "account_no_email_index" on "account" ("id") where email is null',
    },
    {
      name: 'account_disabled_email_index',
      expression:
        'create index "account_disabled_email_index" on "account" (lower("email") text_pattern_ops) where disabled_at is not null',
    },
    {
      name: 'account_disabled_name_index',
      expression: `create index "account_disabled_name_index" on "account" ((lower(ltrim(coalesce("first_name", '') || ' ' || coalesce("last_name", ''))) collate "C"), "id") where disabled_at is not null`,
    },
    {
      name: 'account_disabled_last_name_index',
      expression:
        'create index "account_disabled_last_name_index" on "account" ((lower("last_name") collate "C"), "id") where disabled_at is not null',
    },
  ],
  checks: [
    {
      name: 'account_external_id_check',
      expression: 'char_length(external_id) >= 1 and char_length(external_id) <= 255',
    },
    { name: 'account_role_check', expression: `role in ('user', 'admin')` },
    { name: 'account_created_by_check', expression: `created_by in ('operator')` },
    ...metadataChecks('account'),
  ],
});

export class Account extends AccountSchema.class {}
AccountSchema.setClass(Account);
