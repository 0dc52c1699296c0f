import { Migration } from '@mikro-orm/migrations';

export class Migration20261122112556_deleted_webhook_endpoints extends Migration {
  override name = 'Migration20261122112556_deleted_webhook_endpoints';

  override up(): void {
    this.addSql(`alter table "webhook_endpoint" add column "deleted_at" timestamptz(3) null;`);
  }

  override down(): void {
    this.addSql(`delete from "webhook_endpoint" where "deleted_at" is not null;`);
    this.addSql(`alter table "webhook_endpoint" drop column "deleted_at";`);
  }
}
