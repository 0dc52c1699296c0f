import { Migration } from '@mikro-orm/migrations';

/** Adds the roles that each new team gets. */
export class Migration20261124044500_role_templates extends Migration {
  override name = 'Migration20261124044500_role_templates';

  override up(): void {
    this.addSql(
      `create table "role_template" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "name" text collate "C" not null, "name_skeleton" text not null, "permissions" text[] not null, "version" int not null default 0, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "role_template" add constraint "role_template_name_skeleton_unique" unique ("name_skeleton");`,
    );
    this.addSql(
      `alter table "role_template" add constraint "role_template_permissions_check" check (permissions <@ array['edit_team_settings', 'access_dashboard', 'remove_members', 'invite_members', 'access_billing', 'manage_api_keys']);`,
    );
  }

  override down(): void {
    this.addSql(`drop table "role_template";`);
  }
}
