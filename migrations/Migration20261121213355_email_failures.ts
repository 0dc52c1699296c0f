import { Migration } from '@mikro-orm/migrations';

export class Migration20261121213355_email_failures extends Migration {
  override name = 'Migration20261121213355_email_failures';

  override up(): void {
    this.addSql(
      `alter table "invitation_link" add "email_failed_at" timestamptz(3) null, add "email_failure" text null;`,
    );
    this.addSql(
      `alter table "invitation_link" add constraint "invitation_link_failure_check" check (email_failure in ('rejected', 'unreachable', 'removed'));`,
    );
  }

  override down(): void {
    this.addSql(`alter table "invitation_link" drop column "email_failed_at", drop column "email_failure";`);
  }
}
