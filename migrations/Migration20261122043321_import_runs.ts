import { Migration } from '@mikro-orm/migrations';

export class Migration20261122043321_import_runs extends Migration {
  override name = 'Migration20261122043321_import_runs';

  override up(): void {
    this.addSql(
      `create table "import_run" ("id" text collate "C" not null, "created_at" timestamptz(3) not null, "fingerprint" text not null, "stage" text not null, "line" int not null, "counts" jsonb not null, "report_bytes" bigint not null, "batches" int not null, "finished_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "import_run_fingerprint_index" on "import_run" ("fingerprint");`);
  }

  override down(): void {
    this.addSql(`drop table "import_run";`);
  }
}
