import { Migration } from '@mikro-orm/migrations';

export class Migration20261122034934_operator_keys extends Migration {
  override name = 'Migration20261122034934_operator_keys';

  override up(): void {
    this.addSql(
      `create table "operator_key" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "name" text not null, "scopes" text[] not null, "addresses" text[] not null, "key_prefix" text not null, "last4" text not null, "last_used_at" timestamptz(3) null, "expires_at" timestamptz(3) null, "revoked_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(
      `create table "operator_key_secret" ("secret_hash" bytea not null, "operator_key_id" text collate "C" not null, "created_at" timestamptz(3) not null, "expires_at" timestamptz(3) null, primary key ("secret_hash"));`,
    );
    this.addSql(`create index "operator_key_secret_operator_key_index" on "operator_key_secret" ("operator_key_id");`);
    this.addSql(
      `create index "operator_key_secret_expiry_index" on "operator_key_secret" ("expires_at") where expires_at is not null;`,
    );
    this.addSql(
      `alter table "operator_key" add constraint "operator_key_scopes_check" check (scopes <@ array['accounts:read', 'accounts:write', 'teams:read', 'teams:write', 'billing:write', 'credentials:verify', 'events:read', 'webhooks:write', 'keys:write']);`,
    );
    this.addSql(
      `alter table "operator_key" add constraint "operator_key_scopes_not_empty" check (cardinality(scopes) > 0);`,
    );
    this.addSql(
      `alter table "operator_key_secret" add constraint "operator_key_secret_operator_key_id_foreign" foreign key ("operator_key_id") references "operator_key" ("id") on delete cascade;`,
    );
    this.setActorKinds("'operator_cli', 'operator_key', 'system'");
  }

  override down(): void {
    this.addSql(`drop table "operator_key_secret"; drop table "operator_key";`);
    // Not valid, because events of operator keys stay.
    this.setActorKinds("'operator_cli', 'system'", ' not valid');
  }

  private setActorKinds(last: string, suffix = ''): void {
    this.addSql(`alter table "audit_event" drop constraint "audit_event_actor_kind_check";`);
    this.addSql(
      `alter table "audit_event" add constraint "audit_event_actor_kind_check" check (actor_kind in ('session', 'api_key', 'oauth_grant', 'oauth_client', 'anonymous', ${last}))${suffix};`,
    );
  }
}
