import { Migration } from '@mikro-orm/migrations';

/** Subscriptions from before have version 1. */
export class Migration20261122040935_external_ids extends Migration {
  override name = 'Migration20261122040935_external_ids';

  override up(): void {
    for (const table of ['account', 'team']) {
      this.addSql(
        `alter table "${table}" add column "external_id" text collate "C" null, add constraint "${table}_external_id_check" check (char_length(external_id) >= 1 and char_length(external_id) <= 255), add constraint "${table}_external_id_unique" unique ("external_id");`,
      );
    }
    this.addSql(`alter table "subscription" add column "version" int not null default 1;`);
  }

  override down(): void {
    this.addSql(`alter table "subscription" drop column "version";`);
    for (const table of ['team', 'account']) {
      this.addSql(
        `alter table "${table}" drop constraint "${table}_external_id_unique", drop constraint "${table}_external_id_check", drop column "external_id";`,
      );
    }
  }
}
