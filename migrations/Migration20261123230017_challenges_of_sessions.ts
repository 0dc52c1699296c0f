import { Migration } from '@mikro-orm/migrations';

/** Binds the challenges of passkeys to sessions. Those of versions before have none, for the five minutes that they live. */
export class Migration20261123230017_challenges_of_sessions extends Migration {
  override name = 'Migration20261123230017_challenges_of_sessions';

  override up(): void {
    this.addSql(`alter table "passkey_challenge" add column "session_id" text null;`);
  }

  override down(): void {
    this.addSql(`alter table "passkey_challenge" drop column "session_id";`);
  }
}
