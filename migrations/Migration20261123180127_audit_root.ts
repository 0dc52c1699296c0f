import { Migration } from '@mikro-orm/migrations';

/** The beginning of the audit chain, which its end and its newest checkpoint sign. Null until the worker has signed it. */
export class Migration20261123180127_audit_root extends Migration {
  override name = 'Migration20261123180127_audit_root';

  override up(): void {
    this.addSql(
      `alter table "audit_head" add column "root_sequence" bigint null, add column "root_hash" bytea null, add column "root_at" timestamptz(3) null;`,
    );
    this.addSql(
      `alter table "audit_checkpoint" add column "root_sequence" bigint null, add column "root_hash" bytea null, add column "root_at" timestamptz(3) null, add column "pruned_before" text collate "C" null;`,
    );
  }

  override down(): void {
    this.addSql(
      `alter table "audit_checkpoint" drop column "root_sequence", drop column "root_hash", drop column "root_at", drop column "pruned_before";`,
    );
    this.addSql(
      `alter table "audit_head" drop column "root_sequence", drop column "root_hash", drop column "root_at";`,
    );
  }
}
