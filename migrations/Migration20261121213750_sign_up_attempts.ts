import { Migration } from '@mikro-orm/migrations';

export class Migration20261121213750_sign_up_attempts extends Migration {
  override name = 'Migration20261121213750_sign_up_attempts';

  override up(): void {
    this.addSql(
      `create table "sign_up_attempt" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "account_id" text collate "C" not null, "email" text not null, "first_name" text null, "last_name" text null, "password_hash" text not null, "browser_hash" bytea not null, "token_hash" bytea null, "session_token_hash" bytea null, "expires_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "sign_up_attempt" add constraint "sign_up_attempt_token_hash_unique" unique ("token_hash");`,
    );
    this.addSql(
      `alter table "sign_up_attempt" add constraint "sign_up_attempt_session_token_hash_unique" unique ("session_token_hash");`,
    );
    this.addSql(`create index "sign_up_attempt_email_index" on "sign_up_attempt" (lower("email"), "created_at");`);
    this.addSql(`create index "sign_up_attempt_expiry_index" on "sign_up_attempt" ("expires_at");`);

    this.addSql(`alter table "account" add column "created_by" text null;`);
    this.addSql(`alter table "account" add constraint "account_created_by_check" check (created_by in ('operator'));`);
    // Of the unverified accounts, those that only the operator can have created. The version before writes none.
    this.addSql(`update "account" set "created_by" = 'operator'
      where "email_verified_at" is null and (
        "role" = 'admin'
        or "id" in (select "account_id" from "membership")
        or "id" in (
          select "account_id" from "audit_event" where "event" = 'account.created' and "actor_kind" = 'operator_cli'
        )
      );`);

    this.addSql(`alter table "account_token" drop constraint "account_token_purpose_check";`);
    this.addSql(
      `alter table "account_token" add constraint "account_token_purpose_check" check (purpose in ('verify_email', 'change_email', 'reset_password', 'sign_in'));`,
    );
  }

  override down(): void {
    this.addSql(`delete from "account_token" where "purpose" = 'sign_in';`);
    this.addSql(`alter table "account_token" drop constraint "account_token_purpose_check";`);
    this.addSql(
      `alter table "account_token" add constraint "account_token_purpose_check" check (purpose in ('verify_email', 'change_email', 'reset_password'));`,
    );
    this.addSql(`alter table "account" drop column "created_by";`);
    this.addSql(`drop table "sign_up_attempt";`);
  }
}
