import type { AdapterPayload } from 'oidc-provider';

/** The stored properties of an oidc-provider model. */
export type Payload = AdapterPayload;

/** Removes the id, which is the secret itself and is never stored. */
export function removeId({ jti: _jti, returnTo: _returnTo, ...payload }: Payload): Payload {
  return payload;
}
