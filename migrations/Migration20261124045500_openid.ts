import { Migration } from '@mikro-orm/migrations';

/** Id tokens: the keys that sign them, and what their requests asked for. */
export class Migration20261124045500_openid extends Migration {
  override name = 'Migration20261124045500_openid';

  override up(): void {
    this.addSql(
      `create table "signing_key" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "public_key" jsonb not null, "private_key" text not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "oauth_token_family" add column "openid_scopes" text[] null, add column "nonce" text null;`,
    );
    this.addSql(
      `alter table "oauth_token_family" add constraint "oauth_token_family_openid_check" check (openid_scopes <@ array['openid', 'profile', 'email']);`,
    );
  }

  override down(): void {
    this.addSql(`alter table "oauth_token_family" drop column "nonce", drop column "openid_scopes";`);
    this.addSql(`drop table "signing_key";`);
  }
}
