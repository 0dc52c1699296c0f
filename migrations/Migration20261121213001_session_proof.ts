import { Migration } from '@mikro-orm/migrations';

export class Migration20261121213001_session_proof extends Migration {
  override name = 'Migration20261121213001_session_proof';

  override up(): void {
    // Sessions that the version before creates have none: they are asked for a proof first.
    this.addSql(`alter table "session" add "proven_at" timestamptz(3) null;`);
    this.addSql(`update "session" set "proven_at" = "created_at";`);
  }

  override down(): void {
    this.addSql(`alter table "session" drop column "proven_at";`);
  }
}
