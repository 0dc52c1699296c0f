import { Migration } from '@mikro-orm/migrations';

export class Migration20261121123953_copied_links extends Migration {
  override name = 'Migration20261121123953_copied_links';

  override up(): void {
    this.addSql(`alter table "invitation_link" add "proves_mailbox" boolean not null default true;`);
  }

  override down(): void {
    // Without the column every link would count as a proof.
    this.addSql(`delete from "invitation_link" where not "proves_mailbox";`);
    this.addSql(`alter table "invitation_link" drop column "proves_mailbox";`);
  }
}
