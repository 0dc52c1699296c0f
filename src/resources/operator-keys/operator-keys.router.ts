import { SUCCESS, success } from '../../procedures/fields.ts';
import type { OperatorProcedures } from '../../procedures/procedures.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { listOperatorKeys } from './operator-keys.queries.ts';
import {
  createdOperatorKeyOutput,
  createOperatorKeyInput,
  operatorKeyInput,
  operatorKeysOutput,
  presentOperatorKey,
  rotateOperatorKeyInput,
} from './operator-keys.schema.ts';
import { createOperatorKey, revokeOperatorKey, rotateOperatorKey } from './operator-keys.service.ts';

const key = {
  id: 'opk_0cn7u8m1e4gqf97b0tsl6kd2pj',
  name: 'Billing backend',
  keyPrefix: 'rst_ok_4fR9xQ',
  last4: '0kZ3',
  scopes: ['teams:read', 'billing:write'],
  addresses: ['203.0.113.0/24'],
  createdAt: '2026-11-21T09:30:00.000Z',
  lastUsedAt: '2026-11-21T11:42:00.000Z',
  expiresAt: null,
};
const secretOf = (answer: { readonly key: { readonly id: string } }): string => answer.key.id;
// Shortened, so that secret scanners ignore it.
const created = { key: { ...key, lastUsedAt: null }, secret: 'rst_ok_4fR9xQ…0kZ3' };

/** Operator keys, managed by operator keys and by operators who are signed in. */
export const createOperatorKeysRouter = (operatorProcedure: OperatorProcedures) =>
  router({
    listOperatorKeys: operatorProcedure('keys:write')
      .meta(
        endpoint('listOperatorKeys', 'GET /operator/v1/operator-keys', {
          summary: 'List the operator keys',
          returns: 'The keys that are not revoked.',
          example: { answer: { keys: [key] } },
        }),
      )
      .output(operatorKeysOutput)
      .query(async ({ ctx: { services } }) => ({ keys: await listOperatorKeys(services.db) })),

    createOperatorKey: operatorProcedure('keys:write')
      .meta(
        endpoint('createOperatorKey', 'POST /operator/v1/operator-keys', {
          summary: 'Create an operator key',
          description: 'It has at most the scopes and addresses of the calling key, and expires with it at the latest.',
          returns: 'The key, with its secret.',
          effect: 'widens',
          status: 201,
          secretOf,
          errors: ['scope_not_allowed', 'address_not_allowed', 'operator_key_limit_reached'],
          example: { body: { name: 'Billing backend', scopes: ['teams:read', 'billing:write'] }, answer: created },
        }),
      )
      .input(createOperatorKeyInput)
      .output(createdOperatorKeyOutput)
      .mutation(async ({ ctx: { services, operator }, input: { name, scopes, addresses, expiresInDays } }) => {
        const expiresAt = expiresInDays === undefined ? null : { days: expiresInDays };
        return present(await createOperatorKey(services, { operator }, { name, scopes, addresses, expiresAt }));
      }),

    rotateOperatorKey: operatorProcedure('keys:write')
      .meta(
        endpoint('rotateOperatorKey', 'POST /operator/v1/operator-keys/{keyId}/rotate', {
          summary: 'Create a new secret for an operator key',
          description:
            'The present secret stays valid for `overlapHours`, so that applications can change to the new one. The key has at most the scopes and addresses of the calling key, and does not outlive it: a key that expires gets 403 `scope_not_allowed` for one that lasts longer.',
          returns: 'The key, with its new secret.',
          effect: 'widens',
          secretOf,
          errors: ['scope_not_allowed', 'address_not_allowed', 'operator_key_not_found'],
          example: { body: { overlapHours: 24 }, answer: created },
        }),
      )
      .input(rotateOperatorKeyInput)
      .output(createdOperatorKeyOutput)
      .mutation(async ({ ctx: { services, operator }, input: { keyId, overlapHours } }) =>
        present(await rotateOperatorKey(services, { operator }, keyId, overlapHours)),
      ),

    revokeOperatorKey: operatorProcedure('keys:write')
      .meta(
        endpoint('revokeOperatorKey', 'DELETE /operator/v1/operator-keys/{keyId}', {
          summary: 'Revoke an operator key',
          description: 'It is rejected from the next request on. A key can revoke itself.',
          returns: 'Nothing but the confirmation.',
          effect: 'none',
          errors: ['operator_key_not_found'],
          example: { answer: { success: true } },
        }),
      )
      .input(operatorKeyInput)
      .output(success)
      .mutation(async ({ ctx: { services, operator }, input: { keyId } }) => {
        await revokeOperatorKey(services.db, { operator }, keyId);
        return SUCCESS;
      }),
  });

const present = ({ key: saved, secret }: Awaited<ReturnType<typeof createOperatorKey>>) => ({
  key: presentOperatorKey(saved),
  secret,
});
