import type { Api } from './api.ts';

/** Makes the last proof of the sessions of an account, or of all, as old as if it had been given then. */
export const setLastProof = (api: Pick<Api, 'rows'>, minutesAgo: number, account?: { readonly id: string }) =>
  api.rows(
    `update session s set proven_at = at, proofs = (select jsonb_object_agg(key, at) from jsonb_object_keys(s.proofs) key)
     from (select now() - $1::int * interval '1 minute' as at) proof
     where $2::text is null or s.account_id = $2`,
    [minutesAgo, account?.id ?? null],
  );
