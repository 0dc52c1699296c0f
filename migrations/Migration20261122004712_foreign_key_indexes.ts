import { Migration } from '@mikro-orm/migrations';

/** Indexes of foreign keys on the way of a delete, in place of those that only find rows that are not revoked. */
const CREATED = {
  session_account_id_index: '"session" ("account_id", "revoked_at")',
  api_key_account_id_index: '"api_key" ("account_id", "revoked_at", "created_at")',
  api_key_team_id_index: '"api_key" ("team_id", "revoked_at", "created_at") where team_id is not null',
  oauth_grant_account_id_index: '"oauth_grant" ("account_id", "revoked_at")',
  invitation_team_index: '"invitation" ("team_id")',
  invitation_inviter_index: '"invitation" ("invited_by_id") where invited_by_id is not null',
  passkey_challenge_account_index: '"passkey_challenge" ("account_id") where account_id is not null',
};

const DROPPED = {
  session_account_index: '"session" ("account_id") where revoked_at is null',
  api_key_personal_index: '"api_key" ("account_id", "created_at") where revoked_at is null',
  api_key_team_index: '"api_key" ("team_id", "created_at") where revoked_at is null',
  oauth_grant_account_index: '"oauth_grant" ("account_id") where revoked_at is null',
};

export class Migration20261122004712_foreign_key_indexes extends Migration {
  override name = 'Migration20261122004712_foreign_key_indexes';

  override up(): void {
    for (const [name, on] of Object.entries(CREATED)) this.addSql(`create index "${name}" on ${on};`);
    for (const name of Object.keys(DROPPED)) this.addSql(`drop index "${name}";`);
  }

  override down(): void {
    for (const [name, on] of Object.entries(DROPPED)) this.addSql(`create index "${name}" on ${on};`);
    for (const name of Object.keys(CREATED)) this.addSql(`drop index "${name}";`);
  }
}
