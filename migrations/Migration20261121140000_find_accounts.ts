import { Migration } from '@mikro-orm/migrations';

export class Migration20261121140000_find_accounts extends Migration {
  override name = 'Migration20261121140000_find_accounts';

  override up(): void {
    this.addSql(`drop index "account_email_unique";`);
    this.addSql(`create unique index "account_email_unique" on "account" (lower("email") text_pattern_ops);`);
    this.addSql(
      `create index "team_name_index" on "team" (lower("name" collate pg_catalog."default") text_pattern_ops);`,
    );
  }

  override down(): void {
    this.addSql(`drop index "team_name_index";`);
    this.addSql(`drop index "account_email_unique";`);
    this.addSql(`create unique index "account_email_unique" on "account" (lower("email"));`);
  }
}
