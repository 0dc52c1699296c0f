import type { CredentialUse } from '../procedures/context.ts';
import type { HttpServices } from './http-services.ts';

/** Lets a procedure count the use of a credential that is not the caller's. */
export const createCredentialUse = ({ limiter, usage }: HttpServices): CredentialUse => ({
  charge: (credentialId) => limiter.consume(credentialId),
  note({ principal, token }) {
    usage.note(principal);
    if (token?.isUnproven) usage.noteFirstUse(token.hash);
  },
});
