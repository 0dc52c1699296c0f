import { Migration } from '@mikro-orm/migrations';

/** The indexes of the lists of the operator API. */
export class Migration20261122043311_operator_lists extends Migration {
  override name = 'Migration20261122043311_operator_lists';

  override up(): void {
    this.addSql(
      `create index "account_name_page_index" on "account" ((lower(ltrim(coalesce("first_name", '') || ' ' || coalesce("last_name", ''))) collate "C"), "id");`,
    );
    this.addSql(`create index "account_disabled_index" on "account" ("id") where disabled_at is not null;`);
    this.addSql(
      `create index "team_name_page_index" on "team" ((lower("name" collate pg_catalog."default") collate "C"), "id");`,
    );
    this.addSql(`create index "membership_team_page_index" on "membership" ("team_id", "id");`);
  }

  override down(): void {
    for (const index of [
      'membership_team_page_index',
      'team_name_page_index',
      'account_disabled_index',
      'account_name_page_index',
    ])
      this.addSql(`drop index "${index}";`);
  }
}
