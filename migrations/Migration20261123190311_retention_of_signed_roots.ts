import { Migration } from '@mikro-orm/migrations';

const appendOnly = (
  retention: string,
) => `create or replace function "audit_append_only"() returns trigger language plpgsql as $$
      begin
        if tg_op = 'DELETE' and current_setting('roster.retention', true) = '${retention}' then
          return null;
        end if;
        raise exception '% is append-only', tg_table_name using errcode = 'insufficient_privilege';
      end
    $$;`;

/**
 * Retention of versions before this one fails from here on, and deletes nothing: it would move the beginning of the
 * audit chain without signing it, and beside a replica of this version all that it deleted would be missing.
 */
export class Migration20261123190311_retention_of_signed_roots extends Migration {
  override name = 'Migration20261123190311_retention_of_signed_roots';

  override up(): void {
    this.addSql(appendOnly('signs root'));
  }

  override down(): void {
    this.addSql(appendOnly('on'));
  }
}
