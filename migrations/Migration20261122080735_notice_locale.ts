import { Migration } from '@mikro-orm/migrations';

export class Migration20261122080735_notice_locale extends Migration {
  override name = 'Migration20261122080735_notice_locale';

  override up(): void {
    this.addSql(
      `alter table "account" add column "notice_locale_until" timestamptz(3) null, add column "notice_locale" text null;`,
    );
  }

  override down(): void {
    this.addSql(`alter table "account" drop column "notice_locale_until", drop column "notice_locale";`);
  }
}
