import { Migration } from '@mikro-orm/migrations';

/** An account whose address the operator changed keeps its last proven address until the next proof. */
export class Migration20261128150000_moved_addresses extends Migration {
  override name = 'Migration20261128150000_moved_addresses';

  override up(): void {
    this.addSql(`alter table "account" add column "proven_email" text null;`);
  }

  override down(): void {
    this.addSql(`alter table "account" drop column "proven_email";`);
  }
}
