import { Migration } from '@mikro-orm/migrations';

export class Migration20261122040505_unused_keys extends Migration {
  override name = 'Migration20261122040505_unused_keys';

  override up(): void {
    this.addSql(
      `alter table "api_key" add "unused_check_at" timestamptz(3) null, add "unused_warned_at" timestamptz(3) null;`,
    );
    this.addSql(
      `create index "api_key_unused_index" on "api_key" (coalesce(unused_check_at, created_at)) where revoked_at is null;`,
    );
  }

  override down(): void {
    this.addSql(`drop index "api_key_unused_index";`);
    this.addSql(`alter table "api_key" drop column "unused_check_at", drop column "unused_warned_at";`);
  }
}
