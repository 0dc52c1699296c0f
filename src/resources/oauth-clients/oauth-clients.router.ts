import { z } from 'zod';
import { sessionProcedure } from '../../procedures/procedures.ts';
import { SUCCESS, success } from '../../procedures/fields.ts';
import { router } from '../../procedures/trpc.ts';
import { getClient, listClients } from './oauth-clients.queries.ts';
import {
  clientOutput,
  createClientInput,
  createdClientOutput,
  deleteClientInput,
  rotatedClientOutput,
  rotateSecretInput,
  updateClientInput,
} from './oauth-clients.schema.ts';
import * as clients from './oauth-clients.service.ts';

/** The procedures of the developer page: the OAuth clients of an account. Available only over tRPC. */
export const oauthClientsRouter = router({
  list: sessionProcedure
    .output(z.array(clientOutput))
    .query(({ ctx: { services, principal } }) => listClients(services.db, principal.accountId)),

  create: sessionProcedure
    .meta({ effect: 'widens' })
    .input(createClientInput)
    .output(createdClientOutput)
    .mutation(async ({ ctx: { services, principal }, input }) => {
      const { clientId, clientSecret } = await clients.createClient(services, principal, input);
      return { client: await getClient(services.db, principal.accountId, clientId), clientSecret };
    }),

  update: sessionProcedure
    .meta({ effect: 'widens if it adds redirect URIs' })
    .input(updateClientInput)
    .output(clientOutput)
    .mutation(async ({ ctx: { services, principal }, input: { clientId, ...change } }) => {
      await clients.updateClient(services, principal, clientId, change);
      return getClient(services.db, principal.accountId, clientId);
    }),

  rotateSecret: sessionProcedure
    .meta({ effect: 'widens' })
    .input(rotateSecretInput)
    .output(rotatedClientOutput)
    .mutation(async ({ ctx: { services, principal }, input: { clientId, overlapHours } }) => {
      const clientSecret = await clients.rotateSecret(services, principal, clientId, overlapHours);
      return { client: await getClient(services.db, principal.accountId, clientId), clientSecret };
    }),

  delete: sessionProcedure
    .meta({ effect: 'none' })
    .input(deleteClientInput)
    .output(success)
    .mutation(async ({ ctx: { services, principal }, input }) => {
      await clients.deleteClient(services.db, principal, input.clientId);
      return SUCCESS;
    }),
});
