import { Migration } from '@mikro-orm/migrations';

/** What the operator sets of its own OAuth clients, and the scope of operator keys for it. */
export class Migration20261124061000_clients_of_the_operator extends Migration {
  override name = 'Migration20261124061000_clients_of_the_operator';

  override up(): void {
    this.addSql(
      `alter table "oauth_client" add column "is_development" boolean not null default false, add column "home_url" text null, add column "initiate_login_uri" text null;`,
    );
    this.addSql(
      `alter table "oauth_client" add constraint "oauth_client_operator_fields_check" check (source = 'operator' or not (is_development or home_url is not null or initiate_login_uri is not null));`,
    );
    this.addSql(`alter table "operator_key" drop constraint "operator_key_scopes_check";`);
    this.addSql(
      `alter table "operator_key" add constraint "operator_key_scopes_check" check (scopes <@ array['accounts:read', 'accounts:write', 'teams:read', 'teams:write', 'billing:write', 'credentials:verify', 'events:read', 'webhooks:write', 'clients:write', 'keys:write']);`,
    );
  }

  override down(): void {
    this.addSql(
      `alter table "oauth_client" drop constraint "oauth_client_operator_fields_check", drop column "is_development", drop column "home_url", drop column "initiate_login_uri";`,
    );
    this.addSql(`delete from "operator_key" where scopes = array['clients:write'];`);
    this.addSql(`update "operator_key" set scopes = array_remove(scopes, 'clients:write');`);
    this.addSql(`alter table "operator_key" drop constraint "operator_key_scopes_check";`);
    this.addSql(
      `alter table "operator_key" add constraint "operator_key_scopes_check" check (scopes <@ array['accounts:read', 'accounts:write', 'teams:read', 'teams:write', 'billing:write', 'credentials:verify', 'events:read', 'webhooks:write', 'keys:write']);`,
    );
  }
}
