import { Migration } from '@mikro-orm/migrations';

const INDEXES = { actor: 'actor_id', account: 'account_id', credential: 'credential_id' } as const;

/** The actor kind of signed-in operators, and the indexes of the audit log's filters. */
export class Migration20261122072339_operator_sessions extends Migration {
  override name = 'Migration20261122072339_operator_sessions';

  override up(): void {
    this.setActorKinds("'operator_key', 'operator_session', 'system'");
    for (const [index, column] of Object.entries(INDEXES))
      this.addSql(
        `create index "audit_event_${index}_index" on "audit_event" ("${column}", "id") where ${column} is not null;`,
      );
  }

  override down(): void {
    for (const index of Object.keys(INDEXES)) this.addSql(`drop index "audit_event_${index}_index";`);
    // Not valid, because events of signed-in operators stay.
    this.setActorKinds("'operator_key', 'system'", ' not valid');
  }

  private setActorKinds(last: string, suffix = ''): void {
    this.addSql(`alter table "audit_event" drop constraint "audit_event_actor_kind_check";`);
    this.addSql(
      `alter table "audit_event" add constraint "audit_event_actor_kind_check" check (actor_kind in ('session', 'api_key', 'oauth_grant', 'oauth_client', 'anonymous', 'operator_cli', ${last}))${suffix};`,
    );
  }
}
