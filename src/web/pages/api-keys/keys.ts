import { getDisplayName } from '../../components/display-name.ts';
import { isAccountOnly, isReadScope } from '../../scopes.ts';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';
import { scopeTexts } from '../../messages/oauth.ts';
import type { Outputs, Scope } from '../../trpc.ts';

export type Key = Outputs['apiKeys']['list'][number];

/** A key with its secret, which is shown once. */
export type NewSecret = Outputs['apiKeys']['create'] | Outputs['apiKeys']['rotate'];

/** The team whose keys are shown; undefined for personal keys. */
export type TeamId = string | undefined;

/** The scopes that a signed-in user can give a key. */
export const grantableScopes = (teamId: TeamId | null): Scope[] =>
  (Object.keys(scopeTexts) as Scope[]) // the texts have one for each scope
    .filter((scope) => !teamId || !isAccountOnly(scope));

/** Those that change nothing. A new key begins with them. */
export const readOnlyScopes = (teamId: TeamId | null): Scope[] => grantableScopes(teamId).filter(isReadScope);

export const isExpired = ({ expiresAt }: Key): boolean => expiresAt !== null && Date.parse(expiresAt) <= Date.now();

/** The number of days before its end in which a key is marked. */
const WARNING_DAYS = 14;

export const getKeyState = (key: Key): keyof typeof words.states => {
  if (isExpired(key)) return 'expired';
  const isNear = key.expiresAt !== null && Date.parse(key.expiresAt) - Date.now() < WARNING_DAYS * 86_400_000;
  return isNear ? 'expiring' : 'active';
};

/** Returns the display name of the creator of a key. */
export const getCreatorName = ({ isOwn, madeBy }: Key): string =>
  isOwn ? words.you : getDisplayName(madeBy, words.nameless);
