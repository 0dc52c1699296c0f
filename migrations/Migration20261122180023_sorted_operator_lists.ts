import { Migration } from '@mikro-orm/migrations';

/** All of them are small: few accounts are disabled, are operators or have no email address. */
const INDEXES = {
  account_operator_index: `("id") where role = 'admin'`,
  account_no_email_index: '("id") where email is null',
  account_disabled_email_index: '(lower("email") text_pattern_ops) where disabled_at is not null',
  account_disabled_name_index: `((lower(ltrim(coalesce("first_name", '') || ' ' || coalesce("last_name", ''))) collate "C"), "id") where disabled_at is not null`,
  account_disabled_last_name_index: '((lower("last_name") collate "C"), "id") where disabled_at is not null',
} as const;

/** The indexes that find the operators, and sort the operator's list of accounts, also of those that are disabled. */
export class Migration20261122180023_sorted_operator_lists extends Migration {
  override name = 'Migration20261122180023_sorted_operator_lists';

  override up(): void {
    for (const [name, columns] of Object.entries(INDEXES))
      this.addSql(`create index "${name}" on "account" ${columns};`);
  }

  override down(): void {
    for (const name of Object.keys(INDEXES)) this.addSql(`drop index "${name}";`);
  }
}
