import { Migration } from '@mikro-orm/migrations';

/** The index of the filter of a team's audit log by address. */
export class Migration20261122080700_audit_filters extends Migration {
  override name = 'Migration20261122080700_audit_filters';

  override up(): void {
    this.addSql(
      `create index "audit_event_team_address_index" on "audit_event" ("team_id", "address", "id") where team_id is not null;`,
    );
  }

  override down(): void {
    this.addSql(`drop index "audit_event_team_address_index";`);
  }
}
