import { SUCCESS, success } from '../../procedures/fields.ts';
import type { OperatorProcedures } from '../../procedures/procedures.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { getOperatorClient, listOperatorClients } from './oauth-clients.queries.ts';
import { createClient, deleteClient, rotateSecret, updateClient } from './oauth-clients.service.ts';
import {
  createdOperatorClientOutput,
  createOperatorClientInput,
  operatorClientInput,
  operatorClientOutput,
  operatorClientsOutput,
  rotateOperatorClientInput,
  updateOperatorClientInput,
} from './operator-clients.schema.ts';

const CLIENTS = '/operator/v1/clients' as const;
const CLIENT = `${CLIENTS}/{clientId}` as const;

const fields = {
  name: 'My product',
  redirectUris: ['https://app.example.com/callback'],
  isConfidential: true,
  scopes: ['profile:read', 'teams:read'],
  homeUrl: 'https://app.example.com/',
};
const client = {
  id: 'client_0cn7u8m1e4gqf97b0tsl6kd2pj',
  ...fields,
  isNative: false,
  isFirstParty: true,
  isDevelopment: false,
  initiateLoginUri: null,
  openidScopes: null,
  postLogoutRedirectUris: [],
  backchannelLogoutUri: null,
  sessionDays: null,
  hasTokenLimit: false,
  permissions: [],
  createdAt: '2026-11-21T09:30:00.000Z',
  secrets: [{ last4: '0kZ3', createdAt: '2026-11-21T09:30:00.000Z', expiresAt: null }],
};
// Shortened, so that secret scanners ignore it.
const created = { client, clientSecret: 'rst_cs_4fR9xQ…0kZ3' };
const secretOf = (answer: { readonly client: { readonly id: string } }): string => answer.client.id;

/** The OAuth clients of the operator. Nobody else creates first-party ones. */
export const createOperatorClientsRouter = (operatorProcedure: OperatorProcedures) =>
  router({
    listClients: operatorProcedure('clients:write')
      .meta(
        endpoint('listClients', `GET ${CLIENTS}`, {
          summary: 'List the OAuth clients of the operator',
          returns: 'The clients, without their secrets.',
          example: { answer: { clients: [client] } },
        }),
      )
      .output(operatorClientsOutput)
      .query(async ({ ctx: { services } }) => ({ clients: await listOperatorClients(services.db) })),

    createClient: operatorProcedure('clients:write')
      .meta(
        endpoint('createClient', `POST ${CLIENTS}`, {
          summary: 'Create an OAuth client',
          description:
            'With `scopes` it is first-party: your own application, whose users see no consent page. Whether it is, has a secret, is native or for development never changes. There can be 100.',
          returns: 'The client, with its secret.',
          effect: 'widens',
          status: 201,
          secretOf,
          errors: ['client_limit_reached'],
          example: { body: fields, answer: created },
        }),
      )
      .input(createOperatorClientInput)
      .output(createdOperatorClientOutput)
      .mutation(async ({ ctx: { services, operator }, input: { scopes: firstPartyScopes, ...input } }) => {
        const { clientId, clientSecret } = await createClient(services, { operator }, { ...input, firstPartyScopes });
        return { client: await getOperatorClient(services.db, clientId), clientSecret };
      }),

    updateClient: operatorProcedure('clients:write')
      .meta(
        endpoint('updateClient', `PATCH ${CLIENT}`, {
          summary: 'Change an OAuth client',
          description:
            'Members that are left out keep their value. Requests for a removed redirect URI get no code any more.',
          returns: 'The client.',
          effect: 'widens',
          errors: ['client_not_found'],
          example: { body: { scopes: fields.scopes }, answer: client },
        }),
      )
      .input(updateOperatorClientInput)
      .output(operatorClientOutput)
      .mutation(async ({ ctx: { services, operator }, input: { clientId, scopes: firstPartyScopes, ...change } }) => {
        await updateClient(services, { operator }, clientId, { ...change, firstPartyScopes });
        return getOperatorClient(services.db, clientId);
      }),

    rotateClientSecret: operatorProcedure('clients:write')
      .meta(
        endpoint('rotateClientSecret', `POST ${CLIENT}/rotate`, {
          summary: 'Create a new secret for an OAuth client',
          description:
            'The present secret stays valid for `overlapHours`, so that applications can change to the new one.',
          returns: 'The client, with its new secret.',
          effect: 'widens',
          secretOf,
          errors: ['client_not_found'],
          example: { body: { overlapHours: 24 }, answer: created },
        }),
      )
      .input(rotateOperatorClientInput)
      .output(createdOperatorClientOutput)
      .mutation(async ({ ctx: { services, operator }, input: { clientId, overlapHours } }) => {
        const clientSecret = await rotateSecret(services, { operator }, clientId, overlapHours);
        return { client: await getOperatorClient(services.db, clientId), clientSecret };
      }),

    deleteClient: operatorProcedure('clients:write')
      .meta(
        endpoint('deleteClient', `DELETE ${CLIENT}`, {
          summary: 'Delete an OAuth client',
          description: 'Its grants and tokens end with it.',
          returns: 'Nothing but the confirmation.',
          effect: 'none',
          errors: ['client_not_found'],
          example: { answer: { success: true } },
        }),
      )
      .input(operatorClientInput)
      .output(success)
      .mutation(async ({ ctx: { services, operator }, input: { clientId } }) => {
        await deleteClient(services.db, { operator }, clientId);
        return SUCCESS;
      }),
  });
