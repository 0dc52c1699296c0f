import { isAccountOnly } from '../../scopes.ts';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { scopeTexts } from '../../messages/oauth.ts';
import { query, type Outputs, type Scope } from '../../trpc.ts';

export type Key = Outputs['apiKeys']['list'][number];

/** A key with the secret that is shown once. */
export type NewSecret = Outputs['createApiKey'];

/** The team whose keys a page is about; undefined for personal ones. */
export type TeamId = string | undefined;

export const keysOf = (teamId: TeamId) => query('apiKeys.list', { teamId });

/** The scopes that a key can be given by somebody who is signed in. */
export const grantableScopes = (teamId: TeamId | null): Scope[] =>
  (Object.keys(scopeTexts) as Scope[]) // the texts have one for each scope
    .filter((scope) => !teamId || !isAccountOnly(scope));

export const isExpired = ({ expiresAt }: Key): boolean => expiresAt !== null && Date.parse(expiresAt) <= Date.now();

/** Who made a key, by the best name there is. */
export const makerOf = ({ isOwn, madeBy: { firstName, lastName, email } }: Key): string =>
  isOwn ? words.you : [firstName, lastName].filter(Boolean).join(' ') || (email ?? words.somebody);
