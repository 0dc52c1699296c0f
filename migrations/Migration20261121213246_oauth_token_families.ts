import { Migration } from '@mikro-orm/migrations';

/** The scopes of `alias` that its grant still has, in their order. */
const keptScopes = (alias: string) =>
  `array(select s from unnest(${alias}.scopes) with ordinality u(s, i) where s = any(g.scopes) order by i)`;

const SCOPES = `'profile:read', 'profile:write', 'teams:read', 'teams:write', 'members:read', 'members:write', 'invites:write', 'billing:read', 'api-keys:read', 'api-keys:write'`;

/** The live grants of one account, client and audience become the one that expires last. */
const MERGED = `create temporary table merged_grant on commit drop as
  select id, first_value(id) over (
    partition by account_id, client_id, coalesce(team_id, '') order by expires_at desc, id desc) as kept_id
  from oauth_grant where revoked_at is null and expires_at > now();`;

export class Migration20261121213246_oauth_token_families extends Migration {
  override name = 'Migration20261121213246_oauth_token_families';

  override up(): void {
    this.addSql(
      `create table "oauth_token_family" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "account_id" text collate "C" not null, "client_id" text collate "C" not null, "team_id" text collate "C" null, "resource" text not null, "scopes" text[] not null, "grant_id" text collate "C" null, primary key ("id"));`,
    );
    this.addSql(`create index "oauth_token_family_grant_index" on "oauth_token_family" ("grant_id");`);
    this.addSql(`create index "oauth_token_family_account_index" on "oauth_token_family" ("account_id");`);
    this.addSql(`create index "oauth_token_family_client_index" on "oauth_token_family" ("client_id");`);
    this.addSql(
      `create index "oauth_token_family_team_index" on "oauth_token_family" ("team_id") where team_id is not null;`,
    );
    this.addSql(
      `create index "oauth_token_family_pending_index" on "oauth_token_family" ("created_at") where grant_id is null;`,
    );
    this.addSql(
      `alter table "oauth_token_family" add constraint "oauth_token_family_resource_check" check (resource in ('api', 'mcp'));`,
    );
    this.addSql(
      `alter table "oauth_token_family" add constraint "oauth_token_family_scopes_check" check (scopes <@ array[${SCOPES}]);`,
    );
    for (const [column, table] of [
      ['account', 'account'],
      ['client', 'oauth_client'],
      ['team', 'team'],
      ['grant', 'oauth_grant'],
    ]) {
      this.addSql(
        `alter table "oauth_token_family" add constraint "oauth_token_family_${column}_id_foreign" foreign key ("${column}_id") references "${table}" ("id") on delete cascade;`,
      );
    }

    this.addSql(`alter table "oauth_token" add "family_id" text collate "C" null;`);
    // A code is issued before its exchange creates the grant.
    this.addSql(`alter table "oauth_token" alter column "grant_id" drop not null;`);
    this.addSql(`alter table "api_key" add "oauth_family_id" text collate "C" null;`);
    // Null in the grants of a replica of the version before, which does not keep to one a client.
    this.addSql(`alter table "oauth_grant" add "resource" text null;`);
    this.addSql(
      `alter table "oauth_grant" add constraint "oauth_grant_resource_check" check (resource in ('api', 'mcp'));`,
    );

    // Scopes that a grant has lost are lost to its tokens and keys, so that merging gives none of them back.
    this.addSql(
      `update oauth_token t set scopes = ${keptScopes('t')} from oauth_grant g where g.id = t.grant_id and not t.scopes <@ g.scopes;`,
    );
    this.addSql(
      `update api_key k set revoked_at = now() from oauth_grant g where g.id = k.oauth_grant_id and g.narrowed_at is not null and k.revoked_at is null and not k.scopes && g.scopes;`,
    );
    this.addSql(
      `update api_key k set scopes = ${keptScopes('k')} from oauth_grant g where g.id = k.oauth_grant_id and g.narrowed_at is not null and k.revoked_at is null and not k.scopes <@ g.scopes;`,
    );

    // Each grant came from one code.
    this.addSql(
      `insert into oauth_token_family (id, created_at, account_id, client_id, team_id, resource, scopes, grant_id) select replace(id, 'grant_', 'family_'), created_at, account_id, client_id, team_id, 'api', scopes, id from oauth_grant;`,
    );
    this.addSql(`update oauth_token set family_id = replace(grant_id, 'grant_', 'family_');`);
    this.addSql(
      `update api_key set oauth_family_id = replace(oauth_grant_id, 'grant_', 'family_') where oauth_grant_id is not null;`,
    );

    this.addSql(MERGED);
    this.addSql(
      `update oauth_grant g set scopes = array(select s from unnest(array[${SCOPES}]) with ordinality u(s, i) where s = any(of.scopes) order by i), created_at = of.created_at, last_used_at = of.last_used_at from (select m.kept_id, array_agg(distinct s.s) as scopes, min(d.created_at) as created_at, max(d.last_used_at) as last_used_at from merged_grant m join oauth_grant d on d.id = m.id cross join unnest(d.scopes) s(s) group by m.kept_id having count(distinct m.id) > 1) of where g.id = of.kept_id;`,
    );
    this.addSql(
      `update oauth_token t set grant_id = m.kept_id, payload = jsonb_set(t.payload, '{grantId}', to_jsonb(m.kept_id)) from merged_grant m where m.id = t.grant_id and m.kept_id <> m.id;`,
    );
    this.addSql(
      `update api_key k set oauth_grant_id = m.kept_id from merged_grant m where m.id = k.oauth_grant_id and m.kept_id <> m.id;`,
    );
    this.addSql(
      `update oauth_token_family f set grant_id = m.kept_id from merged_grant m where m.id = f.grant_id and m.kept_id <> m.id;`,
    );
    this.addSql(`delete from oauth_grant g using merged_grant m where m.id = g.id and m.kept_id <> m.id;`);
    this.addSql(`update oauth_grant g set resource = 'api' from merged_grant m where m.id = g.id;`);

    this.addSql(`create index "oauth_token_family_index" on "oauth_token" ("family_id");`);
    this.addSql(
      `alter table "oauth_token" add constraint "oauth_token_family_id_foreign" foreign key ("family_id") references "oauth_token_family" ("id") on delete cascade;`,
    );
    this.addSql(
      `create index "api_key_oauth_family_index" on "api_key" ("oauth_family_id") where oauth_family_id is not null;`,
    );
    this.addSql(
      `alter table "api_key" add constraint "api_key_oauth_family_id_foreign" foreign key ("oauth_family_id") references "oauth_token_family" ("id") on delete set null;`,
    );
    this.addSql(
      `create unique index "oauth_grant_active_unique" on "oauth_grant" ("account_id", "client_id", "resource", (coalesce(team_id, ''))) where revoked_at is null and resource is not null;`,
    );
  }

  override down(): void {
    this.addSql(`delete from oauth_token where grant_id is null;`);
    this.addSql(`alter table "oauth_token" drop column "family_id", alter column "grant_id" set not null;`);
    this.addSql(`alter table "api_key" drop column "oauth_family_id";`);
    this.addSql(`drop table "oauth_token_family";`);
    this.addSql(`drop index "oauth_grant_active_unique";`);
    this.addSql(`alter table "oauth_grant" drop column "resource";`);
  }
}
