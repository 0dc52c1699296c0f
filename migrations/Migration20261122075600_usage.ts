import { Migration } from '@mikro-orm/migrations';

/** The requests of API keys by day, and the last use of sessions. */
export class Migration20261122075600_usage extends Migration {
  override name = 'Migration20261122075600_usage';

  override up(): void {
    this.addSql(
      `create table "api_key_use" ("api_key_id" text collate "C" not null, "day" date not null, "requests" bigint not null, "address" text null, primary key ("api_key_id", "day"));`,
    );
    this.addSql(`create index "api_key_use_day_index" on "api_key_use" ("day");`);
    this.addSql(
      `alter table "api_key_use" add constraint "api_key_use_api_key_id_foreign" foreign key ("api_key_id") references "api_key" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "session" add column "last_used_at" timestamptz(3) null, add column "last_address" text null;`,
    );
  }

  override down(): void {
    this.addSql(`drop table "api_key_use";`);
    this.addSql(`alter table "session" drop column "last_used_at", drop column "last_address";`);
  }
}
