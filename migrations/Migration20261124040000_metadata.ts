import { Migration } from '@mikro-orm/migrations';

const TABLES = ['account', 'team', 'membership'];

/** Adds the metadata of accounts, teams and memberships. The defaults are constant, so no row is rewritten. */
export class Migration20261124040000_metadata extends Migration {
  override name = 'Migration20261124040000_metadata';

  override up(): void {
    for (const table of TABLES) {
      this.addSql(
        `alter table "${table}" add column "public_metadata" json not null default '{}', add column "private_metadata" json not null default '{}', add column "metadata_version" int not null default 0;`,
      );
      for (const part of ['public', 'private'])
        this.addSql(
          `alter table "${table}" add constraint "${table}_${part}_metadata_check" check (json_typeof(${part}_metadata) = 'object' and octet_length(${part}_metadata::text) <= 8192);`,
        );
    }
  }

  override down(): void {
    for (const table of TABLES)
      this.addSql(
        `alter table "${table}" drop column "public_metadata", drop column "private_metadata", drop column "metadata_version";`,
      );
  }
}
