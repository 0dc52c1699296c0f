import { Migration } from '@mikro-orm/migrations';

/**
 * Events are found by the transaction that inserted them, not by a trigger. Events from before have no transaction id:
 * they are linked or pending already, and everything later is in no snapshot up to this one.
 */
export class Migration20261122004301_event_numbering extends Migration {
  override name = 'Migration20261122004301_event_numbering';

  override up(): void {
    this.addSql(`alter table "audit_event" add column "xid" xid8 null;`);
    this.addSql(`alter table "audit_event" alter column "xid" set default pg_current_xact_id();`);
    this.addSql(`create index "audit_event_xid_index" on "audit_event" ("xid") where xid is not null;`);
    this.addSql(`drop trigger "audit_event_pending" on "audit_event";`);
    this.addSql(`drop function "audit_note_pending";`);
    this.addSql(
      `create table "audit_head" ("id" smallint not null default 1, "snapshot" pg_snapshot not null, "server" text not null, "sequence" bigint null, "hash" bytea null, "signature" bytea null, primary key ("id"));`,
    );
    this.addSql(`alter table "audit_head" add constraint "audit_head_single_check" check (id = 1);`);
    this.addSql(
      `insert into "audit_head" ("snapshot", "server") select pg_current_snapshot(), system_identifier::text from pg_control_system();`,
    );
  }

  override down(): void {
    this.addSql(
      `insert into "audit_pending" select id from "audit_event" e where not exists (select from "audit_link" l where l.event_id = e.id) on conflict do nothing;`,
    );
    this.addSql(`drop table "audit_head";`);
    this.addSql(`create function "audit_note_pending"() returns trigger language plpgsql as $$
      begin
        insert into "audit_pending" ("event_id") select "id" from "new_events";
        return null;
      end
    $$;`);
    this.addSql(
      `create trigger "audit_event_pending" after insert on "audit_event" referencing new table as "new_events" for each statement execute function "audit_note_pending"();`,
    );
    this.addSql(`alter table "audit_event" drop column "xid";`);
  }
}
