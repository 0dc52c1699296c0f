import { Migration } from '@mikro-orm/migrations';

export class Migration20261122012700_webhooks extends Migration {
  override name = 'Migration20261122012700_webhooks';

  override up(): void {
    this.addSql(
      `create table "webhook_cursor" ("id" smallint not null default 1, "sequence" bigint not null, "not_before" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(
      `create table "webhook_endpoint" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "team_id" text collate "C" null, "account_id" text collate "C" null, "url" text not null, "types" text[] not null, "secret" text not null, "previous_secret" text null, "previous_expires_at" timestamptz(3) null, "paused_at" timestamptz(3) null, "disabled_at" timestamptz(3) null, "disabled_reason" text null, "failing_since" timestamptz(3) null, "held_until" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "webhook_endpoint_team_index" on "webhook_endpoint" ("team_id", "id");`);
    this.addSql(`create index "webhook_endpoint_account_index" on "webhook_endpoint" ("account_id");`);
    this.addSql(
      `create table "webhook_delivery" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "endpoint_id" text collate "C" not null, "event_id" text collate "C" null, "event" text not null, "state" text not null, "attempts" int not null default 0, "due_at" timestamptz(3) not null, "reason" text null, primary key ("id"));`,
    );
    this.addSql(
      `create index "webhook_delivery_waiting_index" on "webhook_delivery" ("endpoint_id", "due_at") where state = 'waiting';`,
    );
    this.addSql(
      `create index "webhook_delivery_due_index" on "webhook_delivery" ("due_at") where state in ('waiting', 'sending');`,
    );
    this.addSql(
      `create index "webhook_delivery_sending_index" on "webhook_delivery" ("endpoint_id") where state = 'sending';`,
    );
    this.addSql(`create index "webhook_delivery_endpoint_index" on "webhook_delivery" ("endpoint_id", "id");`);
    this.addSql(`create index "webhook_delivery_created_index" on "webhook_delivery" ("created_at");`);
    this.addSql(
      `alter table "webhook_delivery" add constraint "webhook_delivery_event_unique" unique ("endpoint_id", "event_id");`,
    );
    this.addSql(
      `create table "webhook_attempt" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "delivery_id" text collate "C" not null, "status" int null, "duration_ms" int not null, "error" text null, "answer" text null, primary key ("id"));`,
    );
    this.addSql(`create index "webhook_attempt_delivery_index" on "webhook_attempt" ("delivery_id", "id");`);
    this.addSql(`alter table "webhook_cursor" add constraint "webhook_cursor_single_check" check (id = 1);`);
    this.addSql(
      `alter table "webhook_endpoint" add constraint "webhook_endpoint_team_id_foreign" foreign key ("team_id") references "team" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "webhook_endpoint" add constraint "webhook_endpoint_account_id_foreign" foreign key ("account_id") references "account" ("id") on delete set null;`,
    );
    this.addSql(
      `alter table "webhook_delivery" add constraint "webhook_delivery_endpoint_id_foreign" foreign key ("endpoint_id") references "webhook_endpoint" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "webhook_delivery" add constraint "webhook_delivery_state_check" check (state in ('waiting', 'sending', 'delivered', 'failed', 'skipped'));`,
    );
    this.addSql(
      `alter table "webhook_attempt" add constraint "webhook_attempt_delivery_id_foreign" foreign key ("delivery_id") references "webhook_delivery" ("id") on delete cascade;`,
    );
  }

  override down(): void {
    this.addSql(
      `drop table "webhook_attempt"; drop table "webhook_delivery"; drop table "webhook_endpoint"; drop table "webhook_cursor";`,
    );
  }
}
