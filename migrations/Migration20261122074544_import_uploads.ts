import { Migration } from '@mikro-orm/migrations';

export class Migration20261122074544_import_uploads extends Migration {
  override name = 'Migration20261122074544_import_uploads';

  override up(): void {
    this.addSql(
      `alter table "import_run" add column "operator_key_id" text collate "C" null, add column "is_dry_run" boolean not null default false, add column "received_at" timestamptz(3) null, add column "lines" int null, add column "failure" text null, add column "updated_at" timestamptz(3) not null default now();`,
    );
    this.addSql(
      `create unique index "import_run_running_index" on "import_run" ("operator_key_id") where "finished_at" is null;`,
    );
    this.addSql(
      `create index "import_run_updated_index" on "import_run" ("updated_at") where "operator_key_id" is not null;`,
    );
    this.addSql(
      `create table "import_content" ("import_id" text collate "C" not null, "number" int not null, "bytes" bytea not null, primary key ("import_id", "number"));`,
    );
    this.addSql(
      `alter table "import_content" add constraint "import_content_import_id_foreign" foreign key ("import_id") references "import_run" ("id") on delete cascade;`,
    );
    this.addSql(
      `create table "import_refusal" ("import_id" text collate "C" not null, "number" int not null, "line" int not null, "type" text null, "external_id" text null, "code" text not null, "detail" text not null, primary key ("import_id", "number"));`,
    );
    this.addSql(
      `alter table "import_refusal" add constraint "import_refusal_import_id_foreign" foreign key ("import_id") references "import_run" ("id") on delete cascade;`,
    );
  }

  override down(): void {
    this.addSql(`drop table "import_refusal";`);
    this.addSql(`drop table "import_content";`);
    this.addSql(`drop index "import_run_updated_index";`);
    this.addSql(`drop index "import_run_running_index";`);
    this.addSql(`delete from "import_run" where "operator_key_id" is not null;`);
    this.addSql(
      `alter table "import_run" drop column "operator_key_id", drop column "is_dry_run", drop column "received_at", drop column "lines", drop column "failure", drop column "updated_at";`,
    );
  }
}
