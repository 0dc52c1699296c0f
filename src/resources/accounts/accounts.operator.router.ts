import { z } from 'zod';
import { cursorsOf } from '../../procedures/cursors.ts';
import { SUCCESS, success } from '../../procedures/fields.ts';
import type { OperatorProcedures } from '../../procedures/procedures.ts';
import { endpoint, router } from '../../procedures/trpc.ts';
import { createAccount, disableAccount, enableAccount, endAllSessions, updateAccount } from './accounts.service.ts';
import { deleteAccount } from './deletion.service.ts';
import { LINK_KINDS, sendLink } from '../sign-in/email-link.ts';
import { listAccounts, readAccount } from '../operator/account-list.queries.ts';
import { changeAs } from '../operator/change.ts';
import {
  accountInput,
  accountOutput,
  accountsOutput,
  createAccountInput,
  endedSessionsOutput,
  listAccountsInput,
  updateAccountInput,
} from '../operator/operator-api.schema.ts';
import { requireForeign } from '../operator/operator.service.ts';
import { toAccountId } from '../operator/references.ts';
import { recordView } from '../operator/views.ts';

const account = {
  id: 'acc_0cn7r2h8vtk3p9qj6mdb5ce0ol',
  externalId: 'customer-4711',
  email: 'ada@example.com',
  firstName: 'Ada',
  lastName: 'Lovelace',
  avatar: null,
  preferredLocale: 'en-GB',
  role: 'user',
  emailVerified: '2026-11-21T09:30:00.000Z',
  disabledAt: null,
  createdAt: '2026-11-21T09:30:00.000Z',
  updatedAt: '2026-11-21T10:05:12.345Z',
};
const done = { answer: { success: true } };

/** Accounts, for the operator's backend. */
export const createOperatorAccountsRouter = (operatorProcedure: OperatorProcedures) =>
  router({
    listAccounts: operatorProcedure('accounts:read')
      .meta(
        endpoint('listAccounts', 'GET /operator/v1/accounts', {
          summary: 'List or search accounts',
          description:
            'All in the order of their creation, or those that one of the searches finds, in the order of what it searches.',
          returns: 'A page of accounts.',
          example: { answer: { accounts: [account], nextCursor: null } },
        }),
      )
      .input(listAccountsInput)
      .output(accountsOutput)
      .query(async ({ ctx, input }) => {
        const page = await listAccounts(ctx.services.db, cursorsOf(ctx), input);
        await recordView(ctx, { found: page.accounts });
        return page;
      }),

    getAccount: operatorProcedure('accounts:read')
      .meta(
        endpoint('getAccount', 'GET /operator/v1/accounts/{accountId}', {
          summary: 'Read an account',
          returns: 'The account.',
          errors: ['account_not_found'],
          example: { answer: account },
        }),
      )
      .input(accountInput)
      .output(accountOutput)
      .query(async ({ ctx, input }) => {
        const { db } = ctx.services;
        const found = await readAccount(db, await toAccountId(db, input.accountId));
        await recordView(ctx, { accountId: found.id });
        return found;
      }),

    createAccount: operatorProcedure('accounts:write')
      .meta(
        endpoint('createAccount', 'POST /operator/v1/accounts', {
          summary: 'Create an account',
          description: 'Without a password, the account can sign in with an emailed link.',
          returns: 'The account.',
          effect: 'widens',
          status: 201,
          errors: ['already_taken'],
          example: {
            body: { email: 'ada@example.com', externalId: 'customer-4711', firstName: 'Ada', isEmailVerified: true },
            answer: account,
          },
        }),
      )
      .input(createAccountInput)
      .output(accountOutput)
      .mutation(({ ctx, input }) =>
        changeAs(ctx, async ({ db, caller, config }) =>
          readAccount(db, (await createAccount(db, caller, config, input)).id),
        ),
      ),

    updateAccount: operatorProcedure('accounts:write')
      .meta(
        endpoint('updateAccount', 'PATCH /operator/v1/accounts/{accountId}', {
          summary: 'Change an account',
          description:
            'Members that are left out keep their value. The old mailbox is told of a new email address if it was verified, and the new one if it is. Without `isEmailVerified` the account keeps all it has, and the new mailbox gets a link; the last verified address is verified again at once. A key cannot set that of an operator, whether it is verified, nor their `externalId`.',
          returns: 'The account.',
          effect: 'weakens',
          errors: ['account_not_found', 'already_taken', 'session_required'],
          example: { body: { lastName: 'Lovelace', externalId: 'customer-4711' }, answer: account },
        }),
      )
      .input(updateAccountInput)
      .output(accountOutput)
      .mutation(({ ctx, input: { accountId, ...changes } }) =>
        changeAs(ctx, async ({ db, caller }) => {
          const id = await toAccountId(db, accountId);
          await updateAccount(db, caller, ctx.services, id, changes);
          return readAccount(db, id);
        }),
      ),

    deleteAccount: operatorProcedure('accounts:write')
      .meta(
        endpoint('deleteAccount', 'DELETE /operator/v1/accounts/{accountId}', {
          summary: 'Delete an account',
          description:
            'With its credentials, its personal data and the teams that have no other member. Transfer or delete other teams that it owns first. A key cannot delete an operator.',
          returns: 'The account is deleted.',
          effect: 'weakens',
          errors: ['account_not_found', 'account_owns_teams', 'session_required'],
          example: done,
        }),
      )
      .input(accountInput)
      .output(success)
      .mutation(({ ctx, input }) =>
        changeAs(ctx, async ({ db, caller }) => {
          const id = await toAccountId(db, input.accountId);
          requireForeign(ctx.operator, id);
          await deleteAccount(db, caller, id);
          return SUCCESS;
        }),
      ),

    disableAccount: operatorProcedure('accounts:write')
      .meta(
        endpoint('disableAccount', 'POST /operator/v1/accounts/{accountId}/disable', {
          summary: 'Disable an account',
          description:
            'Ends its sessions. Its keys and grants are rejected until it is enabled. A key cannot disable an operator.',
          returns: 'The account.',
          effect: 'none',
          errors: ['account_not_found', 'session_required'],
          example: { answer: { ...account, disabledAt: '2026-11-21T10:05:12.345Z' } },
        }),
      )
      .input(accountInput)
      .output(accountOutput)
      .mutation(({ ctx, input }) =>
        changeAs(ctx, async ({ db, caller }) => {
          const id = await toAccountId(db, input.accountId);
          requireForeign(ctx.operator, id);
          await disableAccount(db, caller, id);
          return readAccount(db, id);
        }),
      ),

    enableAccount: operatorProcedure('accounts:write')
      .meta(
        endpoint('enableAccount', 'POST /operator/v1/accounts/{accountId}/enable', {
          summary: 'Enable a disabled account',
          description: 'Its keys and grants work again; its sessions stay ended. A key cannot enable an operator.',
          returns: 'The account.',
          effect: 'widens',
          errors: ['account_not_found', 'session_required'],
          example: { answer: account },
        }),
      )
      .input(accountInput)
      .output(accountOutput)
      .mutation(({ ctx, input }) =>
        changeAs(ctx, async ({ db, caller }) => {
          const id = await toAccountId(db, input.accountId);
          await enableAccount(db, caller, id);
          return readAccount(db, id);
        }),
      ),

    endSessions: operatorProcedure('accounts:write')
      .meta(
        endpoint('endSessions', 'DELETE /operator/v1/accounts/{accountId}/sessions', {
          summary: 'End all sessions of an account',
          description: 'Keys and grants stay valid.',
          returns: 'How many sessions were ended.',
          effect: 'none',
          errors: ['account_not_found'],
          example: { answer: { ended: 2 } },
        }),
      )
      .input(accountInput)
      .output(endedSessionsOutput)
      .mutation(({ ctx, input }) =>
        changeAs(ctx, async ({ db, caller }) => {
          const id = await toAccountId(db, input.accountId);
          requireForeign(ctx.operator, id);
          return { ended: await endAllSessions(db, caller, id) };
        }),
      ),

    sendLink: operatorProcedure('accounts:write')
      .meta(
        endpoint('sendLink', 'POST /operator/v1/accounts/{accountId}/links', {
          summary: 'Email a link to the owner of an account',
          description:
            'To verify the email address, to reset the password or to sign in. The limits of emails to one mailbox apply.',
          returns: 'The email is queued.',
          effect: 'none',
          errors: ['account_not_found'],
          example: { body: { kind: 'sign_in' }, ...done },
        }),
      )
      .input(accountInput.extend({ kind: z.enum(LINK_KINDS).describe('What the link is for.') }))
      .output(success)
      .mutation(({ ctx, input: { accountId, kind } }) =>
        changeAs(ctx, async (services) => {
          await sendLink(services, services.caller, await toAccountId(services.db, accountId), kind);
          return SUCCESS;
        }),
      ),
  });
