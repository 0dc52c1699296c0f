import { Migration } from '@mikro-orm/migrations';

export class Migration20261122035203_webhook_queue extends Migration {
  override name = 'Migration20261122035203_webhook_queue';

  override up(): void {
    this.addSql(
      `create table "webhook_queue" ("endpoint_id" text collate "C" not null, "next_at" timestamptz(3) null, "is_failing" boolean not null default false, primary key ("endpoint_id"));`,
    );
    this.addSql(
      `create index "webhook_queue_next_index" on "webhook_queue" ("is_failing", "next_at") where next_at is not null;`,
    );
    this.addSql(
      `alter table "webhook_queue" add constraint "webhook_queue_endpoint_id_foreign" foreign key ("endpoint_id") references "webhook_endpoint" ("id") on update cascade on delete cascade;`,
    );
    this.addSql(
      `insert into "webhook_queue" ("endpoint_id", "next_at", "is_failing") select "id", now(), "failing_since" is not null from "webhook_endpoint";`,
    );
    this.addSql(`drop index "webhook_delivery_due_index";`);
  }

  override down(): void {
    this.addSql(
      `create index "webhook_delivery_due_index" on "webhook_delivery" ("due_at") where state in ('waiting', 'sending');`,
    );
    this.addSql(`drop table "webhook_queue";`);
  }
}
