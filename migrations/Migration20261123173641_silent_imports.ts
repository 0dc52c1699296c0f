import { Migration } from '@mikro-orm/migrations';

/** Imports cause events, except silent ones, which leave out those of accounts and teams that they created. */
export class Migration20261123173641_silent_imports extends Migration {
  override name = 'Migration20261123173641_silent_imports';

  override up(): void {
    this.addSql('alter table "import_run" add column "is_silent" boolean not null default false;');
    this.addSql('alter table "account" add column "import_id" text collate "C" null;');
    this.addSql('alter table "team" add column "import_id" text collate "C" null;');
  }

  override down(): void {
    this.addSql('alter table "account" drop column "import_id";');
    this.addSql('alter table "team" drop column "import_id";');
    this.addSql('alter table "import_run" drop column "is_silent";');
  }
}
