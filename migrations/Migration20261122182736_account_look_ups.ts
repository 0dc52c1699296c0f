import { Migration } from '@mikro-orm/migrations';

/** The index by which accounts are looked up by id, beside the primary key. */
export class Migration20261122182736_account_look_ups extends Migration {
  override name = 'Migration20261122182736_account_look_ups';

  override up(): void {
    this.addSql('create index "account_id_hash_index" on "account" using hash ("id");');
  }

  override down(): void {
    this.addSql('drop index "account_id_hash_index";');
  }
}
