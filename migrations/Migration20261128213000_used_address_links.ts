import { Migration } from '@mikro-orm/migrations';

const allow = (purposes: string) => [
  `alter table "account_token" drop constraint "account_token_purpose_check";`,
  `alter table "account_token" add constraint "account_token_purpose_check" check (purpose in (${purposes}));`,
];

/** The token of a link that has changed an email address is kept, so that its user can be told so. */
export class Migration20261128213000_used_address_links extends Migration {
  override name = 'Migration20261128213000_used_address_links';

  override up(): void {
    for (const sql of allow(`'verify_email', 'change_email', 'changed_email', 'reset_password', 'sign_in'`))
      this.addSql(sql);
  }

  override down(): void {
    this.addSql(`delete from "account_token" where purpose = 'changed_email';`);
    for (const sql of allow(`'verify_email', 'change_email', 'reset_password', 'sign_in'`)) this.addSql(sql);
  }
}
