import { Migration } from '@mikro-orm/migrations';

/** What a session proves, and what the one proved that approved a request of an OAuth client. */
export class Migration20261123210642_session_proofs extends Migration {
  override name = 'Migration20261123210642_session_proofs';

  override up(): void {
    for (const table of ['session', 'oauth_token_family']) {
      this.addSql(
        `alter table "${table}" add column "proofs" jsonb null,
           add constraint "${table}_proofs_check" check (jsonb_typeof(proofs) = 'object' and length(proofs::text) <= 4000);`,
      );
    }
  }

  override down(): void {
    for (const table of ['session', 'oauth_token_family']) this.addSql(`alter table "${table}" drop column "proofs";`);
  }
}
