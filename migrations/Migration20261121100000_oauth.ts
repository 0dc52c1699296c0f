import { Migration } from '@mikro-orm/migrations';

export class Migration20261121100000_oauth extends Migration {
  override name = 'Migration20261121100000_oauth';

  override up(): void {
    this.addSql(
      `create table "authorization_request" ("id_hash" bytea not null, "browser_hash" bytea null, "payload" jsonb not null, "result" jsonb null, "expires_at" timestamptz(3) not null, primary key ("id_hash"));`,
    );
    this.addSql(`create index "authorization_request_expiry_index" on "authorization_request" ("expires_at");`);

    this.addSql(
      `create table "oauth_artifact" ("key_hash" bytea not null, "model" text not null, "payload" jsonb not null, "expires_at" timestamptz(3) not null, "consumed_at" timestamptz(3) null, primary key ("key_hash"));`,
    );
    this.addSql(`create index "oauth_artifact_expiry_index" on "oauth_artifact" ("expires_at");`);

    this.addSql(
      `create table "oauth_client" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "source" text not null, "account_id" text collate "C" null, "name" text not null, "redirect_uris" text[] not null, "is_native" boolean not null default false, "is_confidential" boolean not null default false, "metadata" jsonb not null default '{}', primary key ("id"));`,
    );
    this.addSql(`create index "oauth_client_account_index" on "oauth_client" ("account_id");`);

    this.addSql(
      `create table "oauth_client_secret" ("secret_hash" bytea not null, "client_id" text collate "C" not null, "last4" text not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) null, primary key ("secret_hash"));`,
    );
    this.addSql(`create index "oauth_client_secret_client_index" on "oauth_client_secret" ("client_id");`);

    this.addSql(
      `create table "oauth_grant" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "account_id" text collate "C" not null, "client_id" text collate "C" not null, "audience" text not null, "team_id" text collate "C" null, "scopes" text[] not null, "narrowed_at" timestamptz(3) null, "last_used_at" timestamptz(3) null, "expires_at" timestamptz(3) not null, "revoked_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "oauth_grant_account_index" on "oauth_grant" ("account_id") where revoked_at is null;`);
    this.addSql(`create index "oauth_grant_client_index" on "oauth_grant" ("client_id");`);
    this.addSql(
      `create index "oauth_grant_team_index" on "oauth_grant" ("team_id", "account_id") where team_id is not null;`,
    );

    this.addSql(
      `create table "oauth_token" ("token_hash" bytea not null, "kind" text not null, "grant_id" text collate "C" not null, "scopes" text[] not null, "payload" jsonb not null, "thumbprint" text null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, "consumed_at" timestamptz(3) null, "used_at" timestamptz(3) null, primary key ("token_hash"));`,
    );
    this.addSql(`create index "oauth_token_grant_index" on "oauth_token" ("grant_id");`);
    this.addSql(`create index "oauth_token_expiry_index" on "oauth_token" ("expires_at");`);

    this.addSql(
      `create table "oauth_refresh_answer" ("token_hash" bytea not null, "answer" text not null, "successors" bytea[] not null, "created_at" timestamptz(3) not null, primary key ("token_hash"));`,
    );

    this.addSql(`alter table "api_key" add "oauth_grant_id" text collate "C" null;`);
    this.addSql(
      `alter table "api_key" add constraint "api_key_oauth_grant_id_foreign" foreign key ("oauth_grant_id") references "oauth_grant" ("id") on delete cascade;`,
    );
    this.addSql(
      `create index "api_key_oauth_grant_index" on "api_key" ("oauth_grant_id") where oauth_grant_id is not null;`,
    );

    this.addSql(
      `alter table "oauth_client" add constraint "oauth_client_account_id_foreign" foreign key ("account_id") references "account" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "oauth_client" add constraint "oauth_client_source_check" check (source in ('operator', 'account', 'registration', 'document'));`,
    );
    this.addSql(
      `alter table "oauth_client" add constraint "oauth_client_owner_check" check ((source = 'account') = (account_id is not null));`,
    );

    this.addSql(
      `alter table "oauth_client_secret" add constraint "oauth_client_secret_client_id_foreign" foreign key ("client_id") references "oauth_client" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "oauth_grant" add constraint "oauth_grant_account_id_foreign" foreign key ("account_id") references "account" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "oauth_grant" add constraint "oauth_grant_client_id_foreign" foreign key ("client_id") references "oauth_client" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "oauth_grant" add constraint "oauth_grant_team_id_foreign" foreign key ("team_id") references "team" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "oauth_grant" add constraint "oauth_grant_audience_check" check (audience in ('personal', 'team'));`,
    );
    this.addSql(
      `alter table "oauth_grant" add constraint "oauth_grant_team_check" check ((audience = 'team') = (team_id is not null));`,
    );
    this.addSql(
      `alter table "oauth_grant" add constraint "oauth_grant_scopes_check" check (scopes <@ array['profile:read', 'profile:write', 'teams:read', 'teams:write', 'members:read', 'members:write', 'invites:write', 'billing:read', 'api-keys:read', 'api-keys:write']);`,
    );
    this.addSql(
      `alter table "oauth_grant" add constraint "oauth_grant_scopes_not_empty" check (cardinality(scopes) > 0);`,
    );

    this.addSql(
      `alter table "oauth_token" add constraint "oauth_token_grant_id_foreign" foreign key ("grant_id") references "oauth_grant" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "oauth_token" add constraint "oauth_token_kind_check" check (kind in ('code', 'access', 'refresh'));`,
    );
    this.addSql(
      `alter table "oauth_token" add constraint "oauth_token_scopes_check" check (scopes <@ array['profile:read', 'profile:write', 'teams:read', 'teams:write', 'members:read', 'members:write', 'invites:write', 'billing:read', 'api-keys:read', 'api-keys:write']);`,
    );

    this.addSql(
      `alter table "oauth_refresh_answer" add constraint "oauth_refresh_answer_token_hash_foreign" foreign key ("token_hash") references "oauth_token" ("token_hash") on update cascade on delete cascade;`,
    );
  }

  override down(): void {
    this.addSql(`alter table "api_key" drop column "oauth_grant_id";`);
    this.addSql(`drop table if exists "oauth_refresh_answer" cascade;`);
    this.addSql(`drop table if exists "oauth_token" cascade;`);
    this.addSql(`drop table if exists "oauth_grant" cascade;`);
    this.addSql(`drop table if exists "oauth_client_secret" cascade;`);
    this.addSql(`drop table if exists "oauth_client" cascade;`);
    this.addSql(`drop table if exists "oauth_artifact" cascade;`);
    this.addSql(`drop table if exists "authorization_request" cascade;`);
  }
}
