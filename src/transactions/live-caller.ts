import type { Principal } from '../auth/principal.ts';
import { liveApiKey, liveGrant, openSession } from '../db/predicates.ts';

/** The credential of a caller, which can end while a change waits for a lock. */
export type CallerCredential = Pick<Principal, 'kind' | 'credentialId' | 'tokenFamilyId'>;

type Expressions = {
  readonly account: string;
  readonly kind: string;
  readonly credential: string;
  readonly family: string;
};

/**
 * Returns the SQL condition that a caller is still authenticated: the account is not disabled, and the credential
 * neither revoked nor expired. Without a kind, only the account is checked.
 */
export const liveCaller = ({ account, kind, credential, family }: Expressions): string =>
  `exists (select from account a where a.id = ${account} and a.disabled_at is null)
   and case ${kind}
     when 'session' then exists (select from session s where s.id = ${credential} and ${openSession('s')})
     when 'api-key' then exists (
       select from api_key k left join oauth_grant g on g.id = k.oauth_grant_id
       where k.id = ${credential} and ${liveApiKey('k')} and (k.oauth_grant_id is null or (${liveGrant('g')})))
     when 'oauth-grant' then exists (select from oauth_grant g where g.id = ${credential} and ${liveGrant('g')})
       and (${family} is null or exists (select from oauth_token_family f where f.id = ${family}))
     else ${kind} is null
   end`;

/** A row `c` with the caller, for a statement with `?` as placeholders: takes the account and `credentialValues`. */
export const CALLER_ROW = `(values (?::text, ?::text, ?::text, ?::text)) c (account_id, kind, credential_id, family_id)`;

export const CALLER_ROW_IS_LIVE = liveCaller({
  account: 'c.account_id',
  kind: 'c.kind',
  credential: 'c.credential_id',
  family: 'c.family_id',
});

/** Returns kind, credential and family, as `liveCaller` takes them. */
export const credentialValues = (credential: CallerCredential | null): readonly (string | null)[] => [
  credential?.kind ?? null,
  credential?.credentialId ?? null,
  credential?.tokenFamilyId ?? null,
];
