import { query, type QueryRunner } from '../../db/query.ts';
import { presentOperatorKeyRow, type OperatorKeyRow } from './operator-keys.schema.ts';

const operatorKeys = query<OperatorKeyRow>(
  'operator_key_list',
  `select id, name, key_prefix, last4, array_to_string(scopes, ' ') as scopes,
     array_to_string(addresses, ' ') as addresses, created_at, last_used_at, expires_at
   from operator_key where revoked_at is null order by id`,
  { rows: 'many' },
);

/** Lists the keys that are not revoked, oldest first. */
export const listOperatorKeys = async (db: QueryRunner) =>
  (await db.query(operatorKeys, [])).map(presentOperatorKeyRow);
