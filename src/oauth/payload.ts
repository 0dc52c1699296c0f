import type { AdapterPayload } from 'oidc-provider';

/** The stored properties of an oidc-provider model. */
export type Payload = AdapterPayload;

/** SQL for the seconds until an instant, by the clock of the database. */
export const secondsUntil = (instant: string): string => `extract(epoch from ${instant} - now())::float8`;

/**
 * Returns the `exp` of a stored model for oidc-provider, which compares it with the clock of this machine: the life that the
 * database says is left, from now on. Otherwise codes would be expired at once where its clock is a minute behind.
 */
export const toExp = (secondsLeft: number): number => Math.floor(Date.now() / 1000 + secondsLeft);

/** Removes the id, which is the secret itself and is never stored. */
export function removeId({ jti: _jti, returnTo: _returnTo, ...payload }: Payload): Payload {
  return payload;
}
