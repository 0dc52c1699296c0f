import type { AdapterPayload } from 'oidc-provider';

/** What the engine keeps of one of its models. */
export type Payload = AdapterPayload;

/** Without the id, which is the secret itself and stored nowhere. */
export function withoutId({ jti: _jti, returnTo: _returnTo, ...payload }: Payload): Payload {
  return payload;
}
