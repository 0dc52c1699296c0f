import { Migration } from '@mikro-orm/migrations';

/** Sessions in which a user signed in for a first-party client can last longer. */
export class Migration20261127193000_session_days_of_clients extends Migration {
  override name = 'Migration20261127193000_session_days_of_clients';

  override up(): void {
    this.addSql(`alter table "oauth_client" add column "session_days" int null;`);
    this.addSql(
      `alter table "oauth_client" add constraint "oauth_client_session_days_check" check (session_days is null or is_first_party and session_days >= 1 and session_days <= 3650);`,
    );
    this.addSql(
      `create index "oauth_client_session_days_index" on "oauth_client" ("session_days") where session_days is not null;`,
    );
  }

  override down(): void {
    this.addSql(`drop index "oauth_client_session_days_index";`);
    this.addSql(
      `alter table "oauth_client" drop constraint "oauth_client_session_days_check", drop column "session_days";`,
    );
  }
}
