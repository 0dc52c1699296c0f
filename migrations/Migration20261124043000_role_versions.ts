import { Migration } from '@mikro-orm/migrations';

/** Adds the version of roles. The default is constant, so no row is rewritten. */
export class Migration20261124043000_role_versions extends Migration {
  override name = 'Migration20261124043000_role_versions';

  override up(): void {
    this.addSql(`alter table "role" add column "version" int not null default 0;`);
  }

  override down(): void {
    this.addSql(`alter table "role" drop column "version";`);
  }
}
