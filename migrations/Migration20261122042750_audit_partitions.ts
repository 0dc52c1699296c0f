import { Migration } from '@mikro-orm/migrations';
import { createTrigger, endOfFirstPartition } from '../src/db/event-partitions.ts';

/**
 * Partitions the audit log by the time in the ids of events. The present table becomes the first partition, which
 * takes one pass over it to check its bound, under a lock. Partitions of months are made when the service starts.
 */
export class Migration20261122042750_audit_partitions extends Migration {
  override name = 'Migration20261122042750_audit_partitions';

  override up(): void {
    const end = endOfFirstPartition(new Date());
    this.addSql(`alter table "audit_head" add column "pruned_before" text collate "C" null;`);
    this.addSql(
      `create table "audit_event_all" (like "audit_event" including defaults including constraints) partition by range ("id");`,
    );
    this.addSql(`alter table "audit_event" add constraint "audit_event_first_range" check ("id" < '${end}');`);
    this.addSql(`alter table "audit_event" rename to "audit_event_first";`);
    for (const index of ['pkey', 'xid_index', 'team_index'])
      this.addSql(`alter index "audit_event_${index}" rename to "audit_event_first_${index}";`);
    this.addSql(`alter table "audit_event_all" rename to "audit_event";`);
    this.addSql(`alter table "audit_event" add primary key ("id");`);
    this.addSql(`create index "audit_event_xid_index" on "audit_event" ("xid") where xid is not null;`);
    this.addSql(`create index "audit_event_team_index" on "audit_event" ("team_id", "id") where team_id is not null;`);
    this.addSql(
      `alter table "audit_event" attach partition "audit_event_first" for values from (minvalue) to ('${end}');`,
    );
    this.addSql(`alter table "audit_event_first" drop constraint "audit_event_first_range";`);
    // For a clock that is far ahead, so that no request fails.
    this.addSql(`create table "audit_event_other" partition of "audit_event" default;`);
    for (const table of ['audit_event', 'audit_event_other']) this.addSql(`${createTrigger(table)};`);
  }

  override down(): void {
    this.addSql(`create table "audit_event_whole" (like "audit_event" including defaults including constraints);`);
    this.addSql(`insert into "audit_event_whole" select * from "audit_event";`);
    this.addSql(`drop table "audit_event";`);
    this.addSql(`alter table "audit_event_whole" rename to "audit_event";`);
    this.addSql(`alter table "audit_event" add primary key ("id");`);
    this.addSql(`create index "audit_event_xid_index" on "audit_event" ("xid") where xid is not null;`);
    this.addSql(`create index "audit_event_team_index" on "audit_event" ("team_id", "id") where team_id is not null;`);
    this.addSql(`${createTrigger('audit_event')};`);
    this.addSql(`alter table "audit_head" drop column "pruned_before";`);
  }
}
