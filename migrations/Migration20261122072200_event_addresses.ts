import { Migration } from '@mikro-orm/migrations';

/** Finds what events show of invitations to an email address, to erase it with the account of the address. */
export class Migration20261122072200_event_addresses extends Migration {
  override name = 'Migration20261122072200_event_addresses';

  override up(): void {
    this.addSql(
      `create index "event_payload_address_index" on "event_payload" (lower(data #>> '{invitation,email}')) where starts_with(type, 'invitation.');`,
    );
  }

  override down(): void {
    this.addSql(`drop index "event_payload_address_index";`);
  }
}
