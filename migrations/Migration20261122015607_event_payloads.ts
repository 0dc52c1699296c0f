import { Migration } from '@mikro-orm/migrations';

/** Events from before have no payload: feeds and deliveries begin after the upgrade. */
export class Migration20261122015607_event_payloads extends Migration {
  override name = 'Migration20261122015607_event_payloads';

  override up(): void {
    this.addSql(
      `create table "event_payload" ("sequence" bigint not null, "event_id" text collate "C" not null, "type" text not null, "team_id" text collate "C" null, "account_id" text collate "C" null, "target_id" text collate "C" null, "data" jsonb null, "created_at" timestamptz(3) not null, primary key ("sequence"));`,
    );
    this.addSql(
      `create index "event_payload_team_index" on "event_payload" ("team_id", "sequence") where team_id is not null;`,
    );
    this.addSql(
      `create index "event_payload_account_index" on "event_payload" ("account_id", "sequence") where account_id is not null;`,
    );
    this.addSql(
      `create index "event_payload_invitation_index" on "event_payload" ("target_id") where starts_with(type, 'invitation.');`,
    );
    this.addSql(`alter table "audit_head" add column "feed_start" bigint not null default '0';`);
    this.addSql(`update "audit_head" set "feed_start" = coalesce((select max("sequence") from "audit_link"), 0);`);
  }

  override down(): void {
    this.addSql(`alter table "audit_head" drop column "feed_start";`);
    this.addSql(`drop table "event_payload";`);
  }
}
