import { Migration } from '@mikro-orm/migrations';

/** Emailed links and invitations remember the application at which they began, and its requests wait for them. */
export class Migration20261127080000_ways_of_applications extends Migration {
  override name = 'Migration20261127080000_ways_of_applications';

  override up(): void {
    this.addSql(
      `alter table "authorization_request" add column "began_at" timestamptz(3) not null default now(), add column "sealed_id" text null;`,
    );
    this.addSql(`create index "authorization_request_browser_index" on "authorization_request" ("browser_hash");`);
    for (const table of ['account_token', 'sign_up_attempt', 'invitation'])
      this.addSql(`alter table "${table}" add column "client_id" text collate "C" null;`);
  }

  override down(): void {
    for (const table of ['account_token', 'sign_up_attempt', 'invitation'])
      this.addSql(`alter table "${table}" drop column "client_id";`);
    this.addSql(`drop index "authorization_request_browser_index";`);
    this.addSql(`alter table "authorization_request" drop column "began_at", drop column "sealed_id";`);
  }
}
