import { Migration } from '@mikro-orm/migrations';

/** Tells invitations whose sender was deleted from those of the operator. No version before had any of the operator. */
export class Migration20261123211837_deleted_senders extends Migration {
  override name = 'Migration20261123211837_deleted_senders';

  override up(): void {
    this.addSql(`alter table "invitation" add column "is_sender_deleted" boolean not null default false;`);
    this.addSql(
      `update "invitation" set "is_sender_deleted" = true where "invited_by_id" is null and "accepted_at" is null;`,
    );
  }

  override down(): void {
    this.addSql(`alter table "invitation" drop column "is_sender_deleted";`);
  }
}
