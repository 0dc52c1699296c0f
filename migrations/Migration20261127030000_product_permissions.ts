import { Migration } from '@mikro-orm/migrations';

const HOLDERS = ['role', 'role_template', 'api_key', 'oauth_client', 'oauth_grant', 'oauth_token_family'];

/** The permissions of the operator's product: their catalogue, and who holds them. */
export class Migration20261127030000_product_permissions extends Migration {
  override name = 'Migration20261127030000_product_permissions';

  override up(): void {
    this.addSql(
      `create table "permission_catalogue" ("id" text not null, "version" int not null default 0, "changed_at" timestamptz(3) not null default now(), primary key ("id"));`,
    );
    this.addSql(`insert into "permission_catalogue" ("id") values ('catalogue');`);
    this.addSql(
      `create table "declared_permission" ("name" text collate "C" not null, "position" int not null, "title" jsonb not null, "description" jsonb null, "heading" jsonb null, "is_sensitive" boolean not null, "roles" text[] not null, "is_for_keys" boolean not null, "is_deprecated" boolean not null, primary key ("name"));`,
    );
    this.addSql(
      `alter table "declared_permission" add constraint "declared_permission_name_check" check (name ~ '^[a-z][a-z0-9_-]{0,49}:[a-z][a-z0-9_-]{0,49}$');`,
    );
    this.addSql(
      `alter table "declared_permission" add constraint "declared_permission_roles_check" check (roles <@ array['member', 'guest']);`,
    );
    for (const table of HOLDERS)
      this.addSql(`alter table "${table}" add column "product_permissions" text[] not null default '{}';`);
    this.addSql(`alter table "role" add column "is_sensitive" boolean not null default false;`);
    // A key for the product alone has no scope.
    this.addSql(`alter table "api_key" drop constraint "api_key_scopes_not_empty";`);
  }

  override down(): void {
    this.addSql(`delete from "api_key" where cardinality(scopes) = 0;`);
    this.addSql(`alter table "api_key" add constraint "api_key_scopes_not_empty" check (cardinality(scopes) > 0);`);
    this.addSql(`alter table "role" drop column "is_sensitive";`);
    for (const table of HOLDERS) this.addSql(`alter table "${table}" drop column "product_permissions";`);
    this.addSql(`drop table "declared_permission";`);
    this.addSql(`drop table "permission_catalogue";`);
  }
}
