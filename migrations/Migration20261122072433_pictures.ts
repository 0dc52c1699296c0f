import { Migration } from '@mikro-orm/migrations';

export class Migration20261122072433_pictures extends Migration {
  override name = 'Migration20261122072433_pictures';

  override up(): void {
    this.addSql(
      `create table "picture" ("name" text collate "C" not null, "account_id" text collate "C" null, "team_id" text collate "C" null, "content" bytea not null, "cleanup_at" timestamptz(3) not null, "created_at" timestamptz(3) not null, primary key ("name"), constraint picture_owner_check check (num_nonnulls(account_id, team_id) = 1));`,
    );
    this.addSql(`create index "picture_cleanup_index" on "picture" ("cleanup_at");`);
    this.addSql(`alter table "picture" add constraint "picture_account_unique" unique ("account_id");`);
    this.addSql(`alter table "picture" add constraint "picture_team_unique" unique ("team_id");`);
    this.addSql(
      `alter table "picture" add constraint "picture_account_id_foreign" foreign key ("account_id") references "account" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "picture" add constraint "picture_team_id_foreign" foreign key ("team_id") references "team" ("id") on delete cascade;`,
    );
  }

  override down(): void {
    this.addSql(`drop table "picture";`);
  }
}
