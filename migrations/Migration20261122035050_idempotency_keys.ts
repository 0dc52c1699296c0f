import { Migration } from '@mikro-orm/migrations';

export class Migration20261122035050_idempotency_keys extends Migration {
  override name = 'Migration20261122035050_idempotency_keys';

  override up(): void {
    this.addSql(
      `create table "idempotency_key" ("key_hash" bytea not null, "credential_id" text collate "C" not null, "operation" text not null, "fingerprint" bytea not null, "answer" text null, "secret_of" text collate "C" null, "created_at" timestamptz(3) not null, primary key ("key_hash"));`,
    );
    this.addSql(`create index "idempotency_key_created_index" on "idempotency_key" ("created_at");`);
  }

  override down(): void {
    this.addSql(`drop table "idempotency_key";`);
  }
}
