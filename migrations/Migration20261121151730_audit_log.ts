import { Migration } from '@mikro-orm/migrations';

export class Migration20261121151730_audit_log extends Migration {
  override name = 'Migration20261121151730_audit_log';

  override up(): void {
    this.addSql(
      `create table "audit_checkpoint" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "sequence" bigint not null, "hash" bytea not null, "is_root" boolean not null, "signature" bytea not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "audit_checkpoint" add constraint "audit_checkpoint_sequence_unique" unique ("sequence");`,
    );

    this.addSql(
      `create table "audit_event" ("id" text collate "C" not null, "occurred_at" timestamptz(3) not null, "event" text not null, "actor_kind" text not null, "actor_id" text collate "C" null, "credential_id" text collate "C" null, "client_id" text collate "C" null, "team_id" text collate "C" null, "account_id" text collate "C" null, "target_id" text collate "C" null, "address" text null, "request_id" text null, "details" jsonb not null, "count" int not null default 1, primary key ("id"));`,
    );
    this.addSql(`create index "audit_event_team_index" on "audit_event" ("team_id", "id") where team_id is not null;`);

    this.addSql(
      `create table "audit_link" ("sequence" bigint not null, "event_id" text collate "C" not null, "hash" bytea not null, primary key ("sequence"));`,
    );
    this.addSql(`alter table "audit_link" add constraint "audit_link_event_unique" unique ("event_id");`);

    this.addSql(`create table "audit_pending" ("event_id" text collate "C" not null, primary key ("event_id"));`);

    this.addSql(
      `alter table "audit_event" add constraint "audit_event_actor_kind_check" check (actor_kind in ('session', 'api_key', 'oauth_grant', 'oauth_client', 'anonymous', 'operator_cli', 'system'));`,
    );
    this.addSql(`alter table "audit_event" add constraint "audit_event_count_check" check (count > 0);`);

    // Whoever connects as the service cannot change what is written. Retention says so in its own transaction.
    this.addSql(`create function "audit_append_only"() returns trigger language plpgsql as $$
      begin
        if tg_op = 'DELETE' and current_setting('roster.retention', true) = 'on' then
          return null;
        end if;
        raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
      end
    $$;`);
    for (const table of ['audit_event', 'audit_link', 'audit_checkpoint']) {
      this.addSql(
        `create trigger "${table}_append_only" before update or delete or truncate on "${table}" for each statement execute function "audit_append_only"();`,
      );
    }
    // In the transaction of the event: one that commits late is chained late, and never left out.
    this.addSql(`create function "audit_note_pending"() returns trigger language plpgsql as $$
      begin
        insert into "audit_pending" ("event_id") select "id" from "new_events";
        return null;
      end
    $$;`);
    this.addSql(
      `create trigger "audit_event_pending" after insert on "audit_event" referencing new table as "new_events" for each statement execute function "audit_note_pending"();`,
    );
  }

  override down(): void {
    this.addSql(`drop table if exists "audit_checkpoint" cascade;`);
    this.addSql(`drop table if exists "audit_event" cascade;`);
    this.addSql(`drop table if exists "audit_link" cascade;`);
    this.addSql(`drop table if exists "audit_pending" cascade;`);
    this.addSql(`drop function "audit_append_only";`);
    this.addSql(`drop function "audit_note_pending";`);
  }
}
