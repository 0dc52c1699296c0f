import { Migration } from '@mikro-orm/migrations';

/** The number of accounts with a password of each scheme. The job counts them within a minute. */
export class Migration20261123174132_scheme_counts extends Migration {
  override name = 'Migration20261123174132_scheme_counts';

  override up(): void {
    this.addSql('alter table "password_scheme" add column "accounts" int not null default 0;');
  }

  override down(): void {
    this.addSql('alter table "password_scheme" drop column "accounts";');
  }
}
