import { Migration } from '@mikro-orm/migrations';

/** The notices of one kind and cause that are collected for one email. */
export class Migration20261123181231_counted_notices extends Migration {
  override name = 'Migration20261123181231_counted_notices';

  override up(): void {
    this.addSql(
      `alter table "sent_mail" add column "number" int not null default 0, add column "things" jsonb not null default '[]';`,
    );
  }

  override down(): void {
    this.addSql('alter table "sent_mail" drop column "number", drop column "things";');
  }
}
