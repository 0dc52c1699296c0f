import type { CredentialUse } from '../procedures/context.ts';
import type { HttpServices } from './http-services.ts';

/** Lets a procedure count the use of a credential that is not the caller's. */
export const createCredentialUse = ({ limiter, usage }: HttpServices): CredentialUse => ({
  charge: (credentialId) => limiter.consume(credentialId),
  note({ principal, token }) {
    // The caller is a service that verifies the credential for its own client.
    usage.note(principal, null);
    if (token?.isUnproven) usage.noteFirstUse(token.hash);
  },
});
