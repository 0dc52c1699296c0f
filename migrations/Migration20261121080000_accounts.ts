import { Migration } from '@mikro-orm/migrations';

export class Migration20261121080000_accounts extends Migration {
  override name = 'Migration20261121080000_accounts';

  override up(): void {
    this.addSql(
      `create table "account_token" ("token_hash" bytea not null, "account_id" text collate "C" not null, "purpose" text not null, "email" text not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, primary key ("token_hash"));`,
    );
    this.addSql(`create index "account_token_account_index" on "account_token" ("account_id", "purpose");`);

    this.addSql(
      `create table "known_device" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "account_id" text collate "C" not null, "token_hash" bytea not null, "last_seen_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "known_device" add constraint "known_device_account_token_unique" unique ("account_id", "token_hash");`,
    );

    this.addSql(
      `create table "passkey" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "account_id" text collate "C" not null, "name" text not null, "credential_id" text collate "C" not null, "public_key" bytea not null, "counter" bigint not null, "transports" text[] not null, "last_used_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`alter table "passkey" add constraint "passkey_credential_id_unique" unique ("credential_id");`);
    this.addSql(`create index "passkey_account_index" on "passkey" ("account_id");`);

    this.addSql(
      `create table "passkey_challenge" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "challenge" text collate "C" not null, "account_id" text collate "C" null, "expires_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(`alter table "passkey_challenge" add constraint "passkey_challenge_unique" unique ("challenge");`);
    this.addSql(`create index "passkey_challenge_expiry_index" on "passkey_challenge" ("expires_at");`);

    this.addSql(
      `create table "ownership_transfer" ("team_id" text collate "C" not null, "nominee_id" text collate "C" not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) not null, primary key ("team_id"));`,
    );
    this.addSql(`create index "ownership_transfer_nominee_index" on "ownership_transfer" ("nominee_id");`);

    this.addSql(`alter table "session" add "idle_expires_at" timestamptz(3) null;`);
    this.addSql(`update "session" set "idle_expires_at" = "expires_at";`);
    this.addSql(`alter table "session" alter column "idle_expires_at" set not null;`);

    this.addSql(
      `alter table "account_token" add constraint "account_token_account_id_foreign" foreign key ("account_id") references "account" ("id") on delete cascade;`,
    );
    this.addSql(
      `alter table "account_token" add constraint "account_token_purpose_check" check (purpose in ('verify_email', 'change_email', 'reset_password'));`,
    );

    this.addSql(
      `alter table "known_device" add constraint "known_device_account_id_foreign" foreign key ("account_id") references "account" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "passkey" add constraint "passkey_account_id_foreign" foreign key ("account_id") references "account" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "passkey_challenge" add constraint "passkey_challenge_account_id_foreign" foreign key ("account_id") references "account" ("id") on delete cascade;`,
    );

    this.addSql(
      `alter table "ownership_transfer" add constraint "ownership_transfer_team_id_foreign" foreign key ("team_id") references "team" ("id") on update cascade on delete cascade;`,
    );
    this.addSql(
      `alter table "ownership_transfer" add constraint "ownership_transfer_nominee_id_foreign" foreign key ("nominee_id") references "account" ("id") on delete cascade;`,
    );
  }

  override down(): void {
    this.addSql(`drop table if exists "account_token" cascade;`);
    this.addSql(`drop table if exists "known_device" cascade;`);
    this.addSql(`drop table if exists "passkey" cascade;`);
    this.addSql(`drop table if exists "passkey_challenge" cascade;`);
    this.addSql(`drop table if exists "ownership_transfer" cascade;`);

    this.addSql(`alter table "session" drop column "idle_expires_at";`);
  }
}
