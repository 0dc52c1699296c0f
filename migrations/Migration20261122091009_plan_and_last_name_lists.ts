import { Migration } from '@mikro-orm/migrations';

/** The indexes of the operator API's lists of the teams of a plan, and of accounts by last name. */
export class Migration20261122091009_plan_and_last_name_lists extends Migration {
  override name = 'Migration20261122091009_plan_and_last_name_lists';

  override up(): void {
    this.addSql(`create index "subscription_plan_index" on "subscription" ("plan_id", "team_id");`);
    this.addSql(`create index "account_last_name_page_index" on "account" ((lower("last_name") collate "C"), "id");`);
  }

  override down(): void {
    for (const index of ['account_last_name_page_index', 'subscription_plan_index'])
      this.addSql(`drop index "${index}";`);
  }
}
