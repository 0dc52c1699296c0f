import { Migration } from '@mikro-orm/migrations';

/** What prevents a commit whose caller has lost their right fails with a SQLSTATE of its own, so that logs do not show a fault. */
export class Migration20261128230000_refused_commits extends Migration {
  override name = 'Migration20261128230000_refused_commits';

  override up(): void {
    this.addSql(`create function "refuse_commit"("guard" text) returns int language plpgsql as $$
      begin
        raise exception using errcode = 'RS001', message = guard,
          detail = 'The caller lost the right to this change while it waited. This is not a fault.';
      end $$;`);
  }

  override down(): void {
    this.addSql(`drop function "refuse_commit";`);
  }
}
