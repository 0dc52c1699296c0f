import { Migration } from '@mikro-orm/migrations';

/** Clients of the operator's own, whose tokens belong to the session in which they were authorized. */
export class Migration20261124040100_first_party_clients extends Migration {
  override name = 'Migration20261124040100_first_party_clients';

  override up(): void {
    this.addSql(
      `alter table "oauth_client" add column "is_first_party" boolean not null default false, add column "scopes" text[] null;`,
    );
    this.addSql(
      `alter table "oauth_client" add constraint "oauth_client_first_party_check" check (not is_first_party or source = 'operator');`,
    );
    this.addSql(
      `alter table "oauth_client" add constraint "oauth_client_scopes_check" check (is_first_party = (scopes is not null));`,
    );
    this.addSql(
      `alter table "oauth_client" add constraint "oauth_client_scope_names_check" check (scopes <@ array['profile:read', 'profile:write', 'teams:read', 'teams:write', 'members:read', 'members:write', 'invites:write', 'billing:read', 'api-keys:read', 'api-keys:write']);`,
    );
    this.addSql(`alter table "oauth_token_family" add column "session_id" text collate "C" null;`);
    this.addSql(
      `alter table "oauth_token_family" add constraint "oauth_token_family_session_id_foreign" foreign key ("session_id") references "session" ("id") on delete cascade;`,
    );
    this.addSql(
      `create index "oauth_token_family_session_index" on "oauth_token_family" ("session_id") where session_id is not null;`,
    );
  }

  override down(): void {
    this.addSql(`alter table "oauth_token_family" drop column "session_id";`);
    this.addSql(`alter table "oauth_client" drop column "scopes", drop column "is_first_party";`);
  }
}
