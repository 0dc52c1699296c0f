import { Migration } from '@mikro-orm/migrations';

/** Token requests of a first-party client can have a limit. */
export class Migration20261129063000_token_limits_of_clients extends Migration {
  override name = 'Migration20261129063000_token_limits_of_clients';

  override up(): void {
    this.addSql(`alter table "oauth_client" add column "has_token_limit" boolean not null default false;`);
    this.addSql(
      `alter table "oauth_client" add constraint "oauth_client_token_limit_check" check (not has_token_limit or is_first_party and is_confidential);`,
    );
  }

  override down(): void {
    this.addSql(
      `alter table "oauth_client" drop constraint "oauth_client_token_limit_check", drop column "has_token_limit";`,
    );
  }
}
