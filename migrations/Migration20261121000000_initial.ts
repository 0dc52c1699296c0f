import { Migration } from '@mikro-orm/migrations';

export class Migration20261121000000_initial extends Migration {
  override name = 'Migration20261121000000_initial';

  override up(): void {
    this.addSql(
      `create table "account" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "email" text null, "first_name" text null, "last_name" text null, "role" text not null default 'user', "avatar" text null, "preferred_locale" text null, "email_verified_at" timestamptz(3) null, "password_hash" text null, "disabled_at" timestamptz(3) null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`create unique index "account_email_unique" on "account" (lower("email"));`);
    this.addSql(`alter table "account" add constraint "account_role_check" check (role in ('user', 'admin'));`);

    this.addSql(
      `create table "sent_mail" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "recipient" text collate "C" not null, "team_id" text collate "C" null, primary key ("id"));`,
    );
    this.addSql(`create index "sent_mail_recipient_index" on "sent_mail" ("recipient", "created_at");`);

    this.addSql(
      `create table "session" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "account_id" text collate "C" not null, "token_hash" bytea not null, "authentication_type" text null, "country" text null, "city" text null, "browser" text null, "os" text null, "device_type" text null, "expires_at" timestamptz(3) not null, "revoked_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`alter table "session" add constraint "session_token_hash_unique" unique ("token_hash");`);
    this.addSql(`create index "session_account_index" on "session" ("account_id") where revoked_at is null;`);

    this.addSql(
      `create table "team" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "name" text collate "C" not null, "slug" text collate "C" not null, "description" text null, "avatar_url" text null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "team" add constraint "team_slug_unique" unique ("slug");`);

    this.addSql(
      `create table "subscription" ("team_id" text collate "C" not null, "plan_id" text not null, "status" text null, "interval" text null, "addons" jsonb not null default '{}', "plan_expires_at" timestamptz(3) null, "cancel_at_period_end" boolean not null default false, "needs_payment_action" boolean not null default false, primary key ("team_id"));`,
    );
    this.addSql(
      `alter table "subscription" add constraint "subscription_status_check" check (status in ('trialing', 'active', 'past_due', 'canceled', 'unpaid'));`,
    );
    this.addSql(
      `alter table "subscription" add constraint "subscription_interval_check" check ("interval" in ('month', 'year'));`,
    );

    this.addSql(
      `create table "role" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "team_id" text collate "C" null, "name" text collate "C" not null, "permissions" text[] not null, primary key ("id"));`,
    );
    this.addSql(`create unique index "role_name_unique" on "role" ("team_id", lower("name"));`);
    this.addSql(
      `alter table "role" add constraint "role_permissions_check" check (permissions <@ array['edit_team_settings', 'access_dashboard', 'remove_members', 'invite_members', 'access_billing', 'manage_api_keys']);`,
    );

    this.addSql(
      `create table "membership" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "team_id" text collate "C" not null, "account_id" text collate "C" not null, "role_id" text collate "C" not null, "is_active" boolean not null default true, "expires_at" timestamptz(3) null, "joined_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "membership_team_index" on "membership" ("team_id", "joined_at", "id");`);
    this.addSql(`create index "membership_role_index" on "membership" ("role_id");`);
    this.addSql(
      `alter table "membership" add constraint "membership_account_team_unique" unique ("account_id", "team_id");`,
    );
    this.addSql(`create unique index "membership_one_owner" on "membership" ("team_id") where role_id = 'owner';`);

    this.addSql(
      `create table "invitation" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "team_id" text collate "C" not null, "email" text not null, "role_id" text collate "C" not null, "invited_by_id" text collate "C" null, "expires_at" timestamptz(3) not null, "accepted_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "invitation_role_index" on "invitation" ("role_id");`);
    this.addSql(
      `create unique index "invitation_pending_unique" on "invitation" ("team_id", lower("email")) where accepted_at is null;`,
    );

    this.addSql(
      `create table "invitation_link" ("token_hash" bytea not null, "invitation_id" text collate "C" not null, "created_at" timestamptz(3) not null, primary key ("token_hash"));`,
    );
    this.addSql(`create index "invitation_link_invitation_index" on "invitation_link" ("invitation_id");`);

    this.addSql(
      `create table "api_key" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "account_id" text collate "C" not null, "team_id" text collate "C" null, "name" text not null, "scopes" text[] not null, "key_prefix" text not null, "last4" text not null, "last_used_at" timestamptz(3) null, "expires_at" timestamptz(3) null, "revoked_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(
      `create index "api_key_personal_index" on "api_key" ("account_id", "created_at") where revoked_at is null;`,
    );
    this.addSql(`create index "api_key_team_index" on "api_key" ("team_id", "created_at") where revoked_at is null;`);
    this.addSql(
      `alter table "api_key" add constraint "api_key_scopes_check" check (scopes <@ array['profile:read', 'profile:write', 'teams:read', 'teams:write', 'members:read', 'members:write', 'invites:write', 'billing:read', 'api-keys:read', 'api-keys:write']);`,
    );
    this.addSql(`alter table "api_key" add constraint "api_key_scopes_not_empty" check (cardinality(scopes) > 0);`);

    this.addSql(
      `create table "api_key_secret" ("secret_hash" bytea not null, "api_key_id" text collate "C" not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) null, primary key ("secret_hash"));`,
    );
    this.addSql(`create index "api_key_secret_api_key_index" on "api_key_secret" ("api_key_id");`);

    this.addSql(
      `alter table "session" add constraint "session_account_id_foreign" foreign key ("account_id") references "account" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "subscription" add constraint "subscription_team_id_foreign" foreign key ("team_id") references "team" ("id") on update cascade on delete cascade;`,
    );

    this.addSql(
      `alter table "role" add constraint "role_team_id_foreign" foreign key ("team_id") references "team" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "membership" add constraint "membership_team_id_foreign" foreign key ("team_id") references "team" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "membership" add constraint "membership_account_id_foreign" foreign key ("account_id") references "account" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "membership" add constraint "membership_role_id_foreign" foreign key ("role_id") references "role" ("id");`,
    );

    this.addSql(
      `alter table "invitation" add constraint "invitation_team_id_foreign" foreign key ("team_id") references "team" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "invitation" add constraint "invitation_role_id_foreign" foreign key ("role_id") references "role" ("id");`,
    );
    this.addSql(
      `alter table "invitation" add constraint "invitation_invited_by_id_foreign" foreign key ("invited_by_id") references "account" ("id") on delete set null;`,
    );

    this.addSql(
      `alter table "invitation_link" add constraint "invitation_link_invitation_id_foreign" foreign key ("invitation_id") references "invitation" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "api_key" add constraint "api_key_account_id_foreign" foreign key ("account_id") references "account" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "api_key" add constraint "api_key_team_id_foreign" foreign key ("team_id") references "team" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "api_key_secret" add constraint "api_key_secret_api_key_id_foreign" foreign key ("api_key_id") references "api_key" ("id") on delete cascade;`,
    );
    this.addSql(`insert into "role" ("id", "created_at", "team_id", "name", "permissions") values
      ('owner', now(), null, 'Owner', '{edit_team_settings,access_dashboard,remove_members,invite_members,access_billing,manage_api_keys}'),
      ('member', now(), null, 'Member', '{access_dashboard}'),
      ('guest', now(), null, 'Guest', '{}');`);
  }

  override down(): void {
    this.addSql(
      `drop table "api_key_secret", "api_key", "invitation_link", "invitation", "membership", "role", "subscription", "team", "session", "sent_mail", "account";`,
    );
  }
}
