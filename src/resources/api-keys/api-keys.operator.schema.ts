import { z } from 'zod';
import { productPermissionName, productPermissionNames, resourceId, scopeName } from '../../procedures/fields.ts';
import { accountInput, teamInput } from '../operator/operator-api.schema.ts';
import { nextCursor, pageInput } from '../operator/paging.ts';
import { accountReference, teamReference } from '../operator/references.ts';
import { apiKeyOutput, createApiKeyBody, createFullKeyInput } from './api-keys.schema.ts';

const keyId = resourceId.meta({ description: 'The id of an API key.', example: 'key_0cn7u8m1e4gqf97b0tsl6kd2pj' });
const permissions = productPermissionNames.meta({
  description: 'What the key can have of your product, of what the role of its account holds at each call.',
});

export const operatorApiKeyInput = z.object({ keyId });
export const listAccountApiKeysInput = accountInput.extend(pageInput);
export const listTeamApiKeysInput = teamInput.extend(pageInput);

export const createOperatorApiKeyInput = z.object({
  accountId: accountReference.meta({ description: 'The account that the key acts for.' }),
  name: createFullKeyInput.shape.name.meta({ description: 'A name to recognize the key by.' }),
  scopes: z.array(scopeName).max(10).meta({ description: 'Can be empty if there are `permissions`.' }),
  permissions: permissions.default([]),
  teamId: teamReference
    .optional()
    .meta({ description: 'Limits the key to this team, of which the account is a member.' }),
  expiresInDays: createApiKeyBody.expiresInDays,
});

export const updateOperatorApiKeyInput = operatorApiKeyInput.extend({ permissions });

export const operatorApiKeyOutput = apiKeyOutput
  .extend({
    accountId: z.string().describe('The account that it acts for.'),
    permissions: z.array(productPermissionName).describe('What it can have of your product.'),
  })
  .meta({ id: 'OperatorApiKey', description: 'An API key, without its secret.' });

export const operatorApiKeysOutput = z
  .object({ keys: z.array(operatorApiKeyOutput).describe('The keys of the page.'), nextCursor })
  .meta({ id: 'OperatorApiKeys', description: 'A page of API keys.' });

export const createdOperatorApiKeyOutput = z
  .object({ key: operatorApiKeyOutput, secret: z.string().describe('It is returned once.') })
  .meta({ id: 'CreatedOperatorApiKey', description: 'A new API key and its secret.' });
