import { Migration } from '@mikro-orm/migrations';

export class Migration20261122041744_password_schemes extends Migration {
  override name = 'Migration20261122041744_password_schemes';

  override up(): void {
    this.addSql(
      `create table "password_scheme" ("kind" text not null, "scheme" text not null, "work" bigint not null, "updated_at" timestamptz(3) not null, primary key ("kind"));`,
    );
    this.addSql(
      `create index "account_foreign_hash_index" on "account" (split_part(password_hash, '$', 2)) where password_hash not like '$argon2id$%';`,
    );
  }

  override down(): void {
    this.addSql(`drop index "account_foreign_hash_index";`);
    this.addSql(`drop table "password_scheme";`);
  }
}
