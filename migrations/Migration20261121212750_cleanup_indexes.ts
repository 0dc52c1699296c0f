import { Migration } from '@mikro-orm/migrations';

const INDEXES = {
  sent_mail_created_index: '"sent_mail" ("created_at")',
  account_token_expiry_index: '"account_token" ("expires_at")',
  known_device_last_seen_index: '"known_device" ("last_seen_at")',
  session_expiry_index: '"session" (least(expires_at, revoked_at))',
  invitation_expiry_index: '"invitation" (least(expires_at, accepted_at))',
  oauth_grant_expiry_index: '"oauth_grant" (least(expires_at, revoked_at))',
  oauth_refresh_answer_created_index: '"oauth_refresh_answer" ("created_at")',
  oauth_client_cleanup_index: `"oauth_client" ("cleanup_at") where source in ('registration', 'document')`,
  oauth_client_secret_expiry_index: '"oauth_client_secret" ("expires_at") where expires_at is not null',
  api_key_secret_expiry_index: '"api_key_secret" ("expires_at") where expires_at is not null',
  api_key_grant_expiry_index: '"api_key" ("expires_at") where oauth_grant_id is not null and revoked_at is null',
};

export class Migration20261121212750_cleanup_indexes extends Migration {
  override name = 'Migration20261121212750_cleanup_indexes';

  override up(): void {
    this.addSql(
      `alter table "oauth_client" add "cleanup_at" timestamptz(3) not null default (now() + '30 days'::interval);`,
    );
    this.addSql(`update "oauth_client" set "cleanup_at" = "created_at" + interval '30 days';`);
    for (const [name, on] of Object.entries(INDEXES)) this.addSql(`create index "${name}" on ${on};`);
    // The cleanup finds the keys of expired grants by their own expiry.
    this.addSql(
      `update "api_key" k set "expires_at" = g.expires_at from "oauth_grant" g
       where g.id = k.oauth_grant_id and k.revoked_at is null and (k.expires_at is null or k.expires_at > g.expires_at);`,
    );
  }

  override down(): void {
    for (const name of Object.keys(INDEXES)) this.addSql(`drop index "${name}";`);
    this.addSql(`alter table "oauth_client" drop column "cleanup_at";`);
  }
}
