import { Migration } from '@mikro-orm/migrations';

/** The team in which the user of a first-party token works. */
export class Migration20261124062000_active_team extends Migration {
  override name = 'Migration20261124062000_active_team';

  override up(): void {
    this.addSql(`alter table "oauth_token_family" add column "active_team_id" text collate "C" null;`);
    this.addSql(`alter table "oauth_token" add column "active_team_id" text collate "C" null;`);
  }

  override down(): void {
    this.addSql(`alter table "oauth_token" drop column "active_team_id";`);
    this.addSql(`alter table "oauth_token_family" drop column "active_team_id";`);
  }
}
