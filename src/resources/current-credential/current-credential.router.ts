import { z } from 'zod';
import { scopeName } from '../../procedures/fields.ts';
import { credentialProcedure } from '../../procedures/procedures.ts';
import { endpoint, router } from '../../procedures/trpc.ts';

const credentialOutput = z
  .object({
    // Sessions exist only over tRPC, so the OpenAPI document does not list them.
    kind: z.enum(['api-key', 'oauth-grant', 'session']).meta({
      override: { enum: ['api-key', 'oauth-grant'] },
      description: 'An API key, or an access token of OAuth.',
    }),
    audience: z.enum(['personal', 'team']).meta({ description: 'The whole account, or one team.' }),
    team: z
      .object({ id: z.string().meta({ description: 'The id of the team.' }) })
      .nullable()
      .meta({ description: 'The team of the audience. Null for the whole account.' }),
    scopes: z.array(scopeName).meta({ description: 'The enforced scopes, which can be fewer than those issued.' }),
  })
  .meta({ id: 'Credential', description: 'The credential in use.' });

export const credentialRouter = router({
  getCredential: credentialProcedure
    .meta(
      endpoint('getCredential', 'GET /api/v1/credential', {
        summary: 'Read the credential in use',
        returns: 'The kind, audience and enforced scopes of the credential.',
      }),
    )
    .output(credentialOutput)
    .query(({ ctx: { principal } }) => ({
      kind: principal.kind,
      audience: principal.teamId === null ? ('personal' as const) : ('team' as const),
      team: principal.teamId === null ? null : { id: principal.teamId },
      scopes: [...principal.scopes],
    })),
});
