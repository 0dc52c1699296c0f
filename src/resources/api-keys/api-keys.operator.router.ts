import { cursorsOf } from '../../procedures/cursors.ts';
import { SUCCESS, success } from '../../procedures/fields.ts';
import { forOperatorKeys, operatorKeyProcedure } from '../../procedures/procedures.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { readAccount } from '../operator/account-list.queries.ts';
import { changeAs } from '../operator/change.ts';
import { listKeysOf, readKey, type OperatorKeyView } from '../operator/key-list.queries.ts';
import { toAccountId, toTeamId } from '../operator/references.ts';
import { readTeam } from '../operator/team-list.queries.ts';
import { recordView } from '../operator/views.ts';
import {
  createdOperatorApiKeyOutput,
  createOperatorApiKeyInput,
  listAccountApiKeysInput,
  listTeamApiKeysInput,
  operatorApiKeyInput,
  operatorApiKeyOutput,
  operatorApiKeysOutput,
  updateOperatorApiKeyInput,
} from './api-keys.operator.schema.ts';
import { createApiKeyFor } from './creation.service.ts';
import { setKeyPermissions } from './permissions.service.ts';
import { revokeKey } from './revocation.service.ts';

const KEYS = '/operator/v1/api-keys' as const;
const KEY = `${KEYS}/{keyId}` as const;

const fields = { name: 'Nightly export', scopes: [], permissions: ['invoices:read'] };
const key = {
  id: 'key_0cn7u8m1e4gqf97b0tsl6kd2pj',
  ...fields,
  accountId: 'acc_0cn7r2h8vtk3p9qj6mdb5ce0ol',
  teamId: 'team_0cn7s5l4a9nkf9u7h2q0bf5m7e',
  keyPrefix: 'rst_tk_4fR9xQ',
  last4: '0kZ3',
  createdAt: '2026-11-21T09:30:00.000Z',
  lastUsedAt: null,
  expiresAt: null,
};
const page = { answer: { keys: [key], nextCursor: null } };
const LISTED = 'The keys that are not revoked, oldest first.';

const show = ({ team, account, ...shown }: OperatorKeyView) => ({
  ...shown,
  accountId: account.id,
  teamId: team?.id ?? null,
});

/** Gives access to the account and its teams, so it needs both scopes. */
const changing = operatorKeyProcedure('accounts:write', ['teams:write']);

/** The API keys of accounts and teams, for the operator's backend. */
export const apiKeysOperatorRouter = router({
  listAccountApiKeys: forOperatorKeys('accounts:read')
    .meta(
      endpoint('listAccountApiKeys', 'GET /operator/v1/accounts/{accountId}/api-keys', {
        summary: 'List the API keys of an account',
        description: 'Personal ones, and those that it made for teams.',
        returns: LISTED,
        errors: ['account_not_found'],
        example: page,
      }),
    )
    .input(listAccountApiKeysInput)
    .output(operatorApiKeysOutput)
    .query(async ({ ctx, input: { accountId, cursor, limit } }) => {
      const { db } = ctx.services;
      const { id } = await readAccount(db, await toAccountId(db, accountId));
      const { keys, nextCursor } = await listKeysOf(db, cursorsOf(ctx), { of: 'account', id }, cursor, limit);
      await recordView(ctx, { accountId: id });
      return { keys: keys.map(show), nextCursor };
    }),

  listTeamApiKeys: forOperatorKeys('teams:read')
    .meta(
      endpoint('listTeamApiKeys', 'GET /operator/v1/teams/{teamId}/api-keys', {
        summary: 'List the API keys of a team',
        description: 'Those of all members.',
        returns: LISTED,
        errors: ['team_not_found'],
        example: page,
      }),
    )
    .input(listTeamApiKeysInput)
    .output(operatorApiKeysOutput)
    .query(async ({ ctx, input: { teamId, cursor, limit } }) => {
      const { db } = ctx.services;
      const { id } = await readTeam(db, await toTeamId(db, teamId));
      const { keys, nextCursor } = await listKeysOf(db, cursorsOf(ctx), { of: 'team', id }, cursor, limit);
      await recordView(ctx, { teamId: id });
      return { keys: keys.map(show), nextCursor };
    }),

  getApiKey: forOperatorKeys('accounts:read')
    .meta(
      endpoint('getApiKey', `GET ${KEY}`, {
        summary: 'Read an API key',
        returns: 'The key, without its secret.',
        errors: ['api_key_not_found'],
        example: { answer: key },
      }),
    )
    .input(operatorApiKeyInput)
    .output(operatorApiKeyOutput)
    .query(async ({ ctx, input }) => {
      const found = show(await readKey(ctx.services.db, input.keyId));
      await recordView(ctx, { accountId: found.accountId });
      return found;
    }),

  createApiKey: changing
    .meta(
      endpoint('createApiKey', `POST ${KEYS}`, {
        summary: 'Create an API key for an account',
        description:
          'With any scopes, and with permissions that the catalogue lets keys hold; what the role of the account holds limits them at each call. Without `scopes`, the key is for your product alone. The account is told by email. There is no limit of keys. A key cannot create one for an operator.',
        returns: 'The key, with its secret.',
        effect: 'widens',
        status: 201,
        secretOf: (answer: { readonly key: { readonly id: string } }) => answer.key.id,
        errors: ['scope_account_only', 'email_not_verified', 'session_required', 'account_not_found', 'team_not_found'],
        // Shortened, so that secret scanners ignore it.
        example: {
          body: { ...fields, accountId: key.accountId, teamId: key.teamId },
          answer: { key, secret: 'rst_tk_4fR9xQ…0kZ3' },
        },
      }),
    )
    .input(createOperatorApiKeyInput)
    .output(createdOperatorApiKeyOutput)
    .mutation(({ ctx, input: { accountId, teamId, expiresInDays, ...given } }) =>
      changeAs(ctx, async ({ caller, ...services }) => {
        const { db } = services;
        const created = await createApiKeyFor(services, caller, await toAccountId(db, accountId), {
          ...given,
          teamId: teamId === undefined ? undefined : await toTeamId(db, teamId),
          expiresAt: expiresInDays === undefined ? null : { days: expiresInDays },
        });
        return { key: show(await readKey(db, created.key.id)), secret: created.secret };
      }),
    ),

  updateApiKey: changing
    .meta(
      endpoint('updateApiKey', `PATCH ${KEY}`, {
        summary: "Replace an API key's permissions of your product",
        description:
          'Effective for the next request. Its scopes stay. The account is told by email if the key gets more. A key cannot give more to that of an operator.',
        returns: 'The key.',
        effect: 'widens',
        errors: ['api_key_not_found', 'session_required'],
        example: { body: { permissions: fields.permissions }, answer: key },
      }),
    )
    .input(updateOperatorApiKeyInput)
    .output(operatorApiKeyOutput)
    .mutation(({ ctx, input: { keyId, permissions } }) =>
      changeAs(ctx, async ({ db, caller }) => {
        await setKeyPermissions(db, caller, show(await readKey(db, keyId)), permissions);
        return show(await readKey(db, keyId));
      }),
    ),

  revokeApiKey: operatorKeyProcedure('accounts:write')
    .meta(
      endpoint('revokeApiKey', `DELETE ${KEY}`, {
        summary: 'Revoke an API key',
        description: 'Effective for the next request.',
        returns: 'The key is revoked.',
        effect: 'none',
        errors: ['api_key_not_found'],
        example: { answer: { success: true } },
      }),
    )
    .input(operatorApiKeyInput)
    .output(success)
    .mutation(({ ctx, input }) =>
      changeAs(ctx, async ({ db, caller }) => {
        await revokeKey(db, caller, input.keyId);
        return SUCCESS;
      }),
    ),
});
