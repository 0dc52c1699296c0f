import { Migration } from '@mikro-orm/migrations';

export class Migration20261122010312_deleted_clients extends Migration {
  override name = 'Migration20261122010312_deleted_clients';

  override up(): void {
    this.addSql(`alter table "oauth_client" add "deleted_at" timestamptz(3) null;`);
    this.addSql(`create index "oauth_client_deleted_index" on "oauth_client" ("id") where deleted_at is not null;`);
    this.addSql(`alter table "oauth_client" drop constraint "oauth_client_owner_check";`);
    this.addSql(
      `alter table "oauth_client" add constraint "oauth_client_owner_check" check ((source = 'account') = (account_id is not null) or deleted_at is not null);`,
    );
  }

  override down(): void {
    // Without the column their grants would count again.
    this.addSql(`delete from "oauth_client" where "deleted_at" is not null;`);
    this.addSql(`alter table "oauth_client" drop constraint "oauth_client_owner_check";`);
    this.addSql(
      `alter table "oauth_client" add constraint "oauth_client_owner_check" check ((source = 'account') = (account_id is not null));`,
    );
    this.addSql(`alter table "oauth_client" drop column "deleted_at";`);
  }
}
