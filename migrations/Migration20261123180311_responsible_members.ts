import { Migration } from '@mikro-orm/migrations';

/**
 * Responsible for a webhook endpoint of a team is who last set its URL, types or secret. Until now it was its creator, or
 * who resumed it last, who stay where the audit log no longer says more.
 */
export class Migration20261123180311_responsible_members extends Migration {
  override name = 'Migration20261123180311_responsible_members';

  override up(): void {
    this.addSql(
      `update webhook_endpoint w set account_id = latest.actor_id
       from webhook_endpoint o
       cross join lateral (
         select e.actor_id from audit_event e
         where e.team_id = o.team_id and e.target_id = o.id and e.actor_kind = 'session'
           and (e.event in ('webhook_endpoint.created', 'webhook_endpoint.secret_rotated')
             or e.event = 'webhook_endpoint.updated'
               and (e.details->'changed' @> '"url"' or e.details->'changed' @> '"types"'))
         order by e.id desc limit 1
       ) latest
       where w.id = o.id and w.account_id is distinct from latest.actor_id
         and exists (select from account a where a.id = latest.actor_id);`,
    );
  }

  override down(): void {
    // The column stays what it was.
  }
}
