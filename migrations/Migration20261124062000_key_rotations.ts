import { Migration } from '@mikro-orm/migrations';

/** Keeps which keys rotated themselves one after the other. Without a default, so no row is rewritten. */
export class Migration20261124062000_key_rotations extends Migration {
  override name = 'Migration20261124062000_key_rotations';

  override up(): void {
    this.addSql(`alter table "api_key" add column "rotation_id" text collate "C" null;`);
  }

  override down(): void {
    this.addSql(`alter table "api_key" drop column "rotation_id";`);
  }
}
