import { measure, type Contender, type Measured } from './measure.ts';
import type { Options } from './options.ts';
import { byKey, type Dialect } from './requests.ts';
import type { Stage } from './stage.ts';

const DECLARED = 500;
const HELD = 50;

const NAMES = `(select array_agg(name order by position) from declared_permission where position <= ${HELD})`;

/** A catalogue of which each caller's role and key hold some. Callers are no longer owners, who would hold all. */
const PERMISSIONS = `
  insert into declared_permission (name, position, title, is_sensitive, roles, is_for_keys, is_deprecated)
    select format('area_%s:action_%s', n % 20, n), n, '{"en": "Do something"}', false, '{}', true, false
    from generate_series(1, ${DECLARED}) n;
  update permission_catalogue set version = version + 1;
  insert into role (id, team_id, name, permissions, product_permissions, created_at)
    select 'role_' || team_id, team_id, 'Accountant', '{access_dashboard}', ${NAMES}, now() from bench.caller;
  update membership m set role_id = 'role_' || m.team_id from bench.caller c
    where m.team_id = c.team_id and m.account_id = c.account_id;
  update api_key set product_permissions = ${NAMES}`;

const asCredential: Dialect = (_, caller) => byKey('credential', caller);

/** What it costs to verify a key, with and without permissions of the product, beside `GET /api/v1/credential`. */
export async function comparePermissions(stage: Stage, options: Options): Promise<Measured[]> {
  const { callers } = await stage.fillDatabase('roster', 'small');
  await stage.copyDatabase('roster', 'permissions');
  await stage.addRows('permissions', PERMISSIONS, []);
  const without = await stage.start('roster', 'roster');
  const having = await stage.start('roster', 'permissions');
  const held = `${HELD} of ${DECLARED} permissions`;
  const contenders: Contender[] = [
    { name: `GET /api/v1/credential, ${held}`, servers: [having], callers, dialect: asCredential },
    { name: `verify, ${held}`, servers: [having], callers, dialect: byKey },
    // Both processes get as many requests, so that both are as warm.
    { name: 'GET /api/v1/credential', servers: [without], callers, dialect: asCredential },
    { name: 'verify', servers: [without], callers, dialect: byKey },
  ];
  return measure(stage, 'verify', contenders, options);
}
