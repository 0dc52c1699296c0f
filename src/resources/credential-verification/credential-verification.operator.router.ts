import { operatorKeyProcedure } from '../../procedures/procedures.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { verifyInput, verifyOutput } from './credential-verification.schema.ts';
import { lookUpCredential, prefetchCredential, requireIncluded, verify, type Looked } from './verify.service.ts';

const TEAM_ID = 'team_0cn7s5l4a9nkf9u7h2q0bf5m7e';

/** Verifies credentials that an API of the operator received. */
export const credentialsOperatorRouter = router({
  verifyCredential: operatorKeyProcedure('credentials:verify')
    .meta(
      endpoint('verifyCredential', 'POST /operator/v1/credentials/verify', {
        summary: 'Verify a credential',
        description:
          'Returns the account, team and permissions of a credential that your own API received, and whether it is sufficient for the request. A revocation, a change of scopes and the end of a membership apply from the next call on. Do not cache the answer. Calls have a rate limit of their own.',
        returns: 'Whether the credential is valid and sufficient, with its account, team and permissions.',
        effect: 'none',
        limit: 'verify',
        readsOnly: true,
        prefetch: prefetchCredential,
        example: {
          // Shortened, so that secret scanners ignore it.
          body: {
            credential: 'rst_tk_4fR9xQ…0kZ3',
            teamId: TEAM_ID,
            scopes: ['members:read'],
            permissions: ['access_dashboard', 'invoices:read'],
            charge: true,
          },
          answer: {
            valid: true,
            code: null,
            credential: {
              id: 'key_0cn7u8m1e4gqf97b0tsl6kd2pj',
              kind: 'api-key',
              audience: 'team',
              teamId: TEAM_ID,
              scopes: ['teams:read', 'members:read'],
              expiresAt: null,
              grantId: null,
              clientId: null,
              resource: null,
              thumbprint: null,
            },
            account: {
              id: 'acc_0cn7r2h8vtk3p9qj6mdb5ce0ol',
              email: 'ada@example.com',
              firstName: 'Ada',
              lastName: 'Lovelace',
              externalId: null,
            },
            team: { id: TEAM_ID, name: 'Analytical Engines', slug: 'analytical-engines' },
            role: { id: 'member', name: 'Member' },
            permissions: ['access_dashboard', 'invoices:read', 'invoices:write'],
            missing: [],
            rate: { limit: 300, remaining: 299, resetSeconds: 60 },
          },
        },
      }),
    )
    .input(verifyInput)
    .output(verifyOutput)
    .mutation(async ({ ctx: { services, prefetch, credentialUse, operator }, input }) => {
      requireIncluded(operator, input);
      const looked = prefetch === undefined ? await lookUpCredential(services, input) : (prefetch.found() as Looked); // of `prefetch` above
      return verify(services.db, looked, input, credentialUse);
    }),
});
