import { Migration } from '@mikro-orm/migrations';

/** Rows from before have no MAC. Replicas of the version before go on inserting such rows while they are replaced. */
export class Migration20261121215046_audit_macs extends Migration {
  override name = 'Migration20261121215046_audit_macs';

  override up(): void {
    this.addSql(`alter table "audit_event" add column "mac" bytea null;`);
    this.addSql(
      `alter table "audit_checkpoint" add column "started_at" timestamptz(3) null, add column "unsigned_until" timestamptz(3) null;`,
    );
  }

  override down(): void {
    this.addSql(`alter table "audit_checkpoint" drop column "started_at", drop column "unsigned_until";`);
    this.addSql(`alter table "audit_event" drop column "mac";`);
  }
}
