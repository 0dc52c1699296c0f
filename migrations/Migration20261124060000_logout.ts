import { Migration } from '@mikro-orm/migrations';

/** Logout by applications and of applications, and OpenID Connect for clients that users consent to. */
export class Migration20261124060000_logout extends Migration {
  override name = 'Migration20261124060000_logout';

  override up(): void {
    this.addSql(
      `alter table "oauth_client" add column "openid_scopes" text[] null, add column "post_logout_redirect_uris" text[] not null default '{}', add column "backchannel_logout_uri" text null;`,
    );
    this.addSql(
      `alter table "oauth_client" add constraint "oauth_client_openid_check" check (openid_scopes <@ array['openid', 'profile', 'email'] and 'openid' = any(openid_scopes));`,
    );
    this.addSql(
      `alter table "oauth_client" add constraint "oauth_client_logout_check" check (backchannel_logout_uri is null or source = 'operator');`,
    );
    this.addSql(`alter table "oauth_token_family" add column "logout_check_at" timestamptz(3) null;`);
    this.addSql(`update "oauth_token_family" set "logout_check_at" = now() where session_id is not null;`);
    this.addSql(
      `create index "oauth_token_family_logout_index" on "oauth_token_family" ("logout_check_at") where logout_check_at is not null;`,
    );
    this.addSql(`alter table "oauth_grant" add column "openid_scopes" text[] null;`);
    this.addSql(
      `alter table "oauth_grant" add constraint "oauth_grant_openid_check" check (openid_scopes <@ array['openid', 'profile', 'email']);`,
    );
    // The previous version creates no grant without scopes.
    this.addSql(`alter table "oauth_grant" drop constraint "oauth_grant_scopes_not_empty";`);
    this.addSql(
      `alter table "oauth_grant" add constraint "oauth_grant_scopes_not_empty" check (cardinality(scopes) > 0 or openid_scopes is not null);`,
    );
  }

  override down(): void {
    this.addSql(`delete from "oauth_grant" where cardinality(scopes) = 0;`);
    this.addSql(`alter table "oauth_grant" drop constraint "oauth_grant_scopes_not_empty";`);
    this.addSql(
      `alter table "oauth_grant" add constraint "oauth_grant_scopes_not_empty" check (cardinality(scopes) > 0);`,
    );
    this.addSql(`alter table "oauth_grant" drop column "openid_scopes";`);
    this.addSql(`alter table "oauth_token_family" drop column "logout_check_at";`);
    this.addSql(
      `alter table "oauth_client" drop column "openid_scopes", drop column "post_logout_redirect_uris", drop column "backchannel_logout_uri";`,
    );
  }
}
