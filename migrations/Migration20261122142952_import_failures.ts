import { Migration } from '@mikro-orm/migrations';

/** Where and why an import failed. */
export class Migration20261122142952_import_failures extends Migration {
  override name = 'Migration20261122142952_import_failures';

  override up(): void {
    this.addSql(`alter table "import_run" add column "failure_detail" text null;`);
  }

  override down(): void {
    this.addSql(`alter table "import_run" drop column "failure_detail";`);
  }
}
