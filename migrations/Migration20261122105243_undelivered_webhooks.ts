import { Migration } from '@mikro-orm/migrations';

export class Migration20261122105243_undelivered_webhooks extends Migration {
  override name = 'Migration20261122105243_undelivered_webhooks';

  override up(): void {
    this.addSql(
      `create index "webhook_delivery_undelivered_index" on "webhook_delivery" ("endpoint_id", "created_at") where state in ('waiting', 'sending');`,
    );
  }

  override down(): void {
    this.addSql(`drop index "webhook_delivery_undelivered_index";`);
  }
}
