import { describe, expect } from 'vitest';
import { test, type Api } from '../support/api.ts';
import { anInvitationWithLink } from './console.ts';
import { numberEvents } from '../webhooks/receiver.ts';
import { allMailed, anAddress, aSignedIn, tokenTo } from './people.ts';

type Column = { table: string; column: string };

/** Every column of the database, of any schema, that holds a text as part of a value. */
async function findEverywhere(api: Api, text: string): Promise<string[]> {
  const columns = await api.rows<Column>(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as table, quote_ident(column_name) as column
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
       and data_type in ('text', 'json', 'jsonb', 'character varying', 'ARRAY')`,
  );
  expect(columns.length).toBeGreaterThan(50);
  const found = await Promise.all(
    columns.map(async ({ table, column }) => {
      const rows = await api.rows(`select 1 from ${table} where ${column}::text ilike '%' || $1 || '%' limit 1`, [
        text,
      ]);
      return rows.length > 0 ? [`${table}.${column}`] : [];
    }),
  );
  return found.flat();
}

describe('account.delete', () => {
  test('leaves the address and the names of the account nowhere in the database', async ({ api }) => {
    const owner = await aSignedIn(api);
    const former = owner.email;
    const { visitor } = owner;
    const names = { firstName: `Ada${crypto.randomUUID()}`, lastName: `Lovelace${crypto.randomUUID()}` };
    await visitor.trpc.updateMe.mutate(names);
    // Accepted and pending invitations, links, a sign-up of another user, a change of the address, failed sign-ins.
    const [joined, pending] = [await api.aTeam({ owner: await api.anAccount() }), await api.aTeam()];
    const { token } = await anInvitationWithLink(api, joined, { email: former });
    await visitor.trpc.invitations.accept.mutate({ token });
    await numberEvents(api);
    expect(await findEverywhere(api, former)).toContain('public.event_payload.data');
    const email = anAddress();
    await visitor.trpc.account.changeEmail.mutate({ newEmail: email });
    await visitor.trpc.account.confirmEmailChange.mutate({ token: await tokenTo(api, email, /^Confirm/) });
    await anInvitationWithLink(api, pending, { email: email.toUpperCase() });
    const invited = await anInvitationWithLink(api, await api.aTeam(), { email });
    await visitor.trpc.invitations.accept.mutate({ token: invited.token });
    await api.visitor().trpc.auth.signUp.mutate({ email, password: 'a stranger’s phrase' });
    await visitor.trpc.auth.forgotPassword.mutate({ email });
    await allMailed(api);
    await numberEvents(api);
    expect(await findEverywhere(api, email)).toEqual(
      expect.arrayContaining(['public.account.email', 'public.event_payload.data']),
    );

    await visitor.trpc.account.delete.mutate();

    await api.mailTo(email, /^Your account was deleted$/);
    await allMailed(api);
    for (const text of [former, email, names.firstName, names.lastName]) {
      expect(await findEverywhere(api, text), text).toEqual([]);
    }
    expect(
      await api.rows(`select event from audit_event where actor_id = $1 and event = 'account.deleted'`, [owner.id]),
    ).toHaveLength(1);
  });

  // Guarantees that no one revokes another user's invitations by signing up with their address.
  test('of an unverified account keeps invitations to its email address', async ({ api }) => {
    const { email, visitor } = await aSignedIn(api, { isVerified: false });
    const invitation = await api.anInvitation(await api.aTeam(), { email });

    await visitor.trpc.account.delete.mutate();

    expect(await api.rows('select id from invitation where id = $1', [invitation.id])).toHaveLength(1);
  });
});
