import { describe, expect } from 'vitest';
import { newId } from '../../src/entities/index.ts';
import { test, type Api } from '../support/api.ts';
import { ALL_SCOPES } from '../rest/operations.ts';

const ACCOUNTS = '/operator/v1/accounts';

const anOperator = async (api: Api) => {
  const key = await api.anOperatorKey();
  return { ...api.as(key), key };
};

type Account = { id: string; email: string; externalId: string | null };

/** All pages of a list. */
async function pagesOf(operator: { get: Api['anonymous']['get'] }, path: string, limit: number): Promise<Account[]> {
  const found: Account[] = [];
  let cursor = '';
  do {
    const { status, body } = await operator.get(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor}`);
    expect(status).toBe(200);
    expect(body.accounts.length).toBeLessThanOrEqual(limit);
    found.push(...body.accounts);
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`;
  } while (cursor !== '');
  return found;
}

/** The changes of an operator key. */
const eventsOf = async (api: Api, { id }: { id: string }) =>
  (
    await api.rows<{ event: string }>(
      `select event from audit_event where credential_id = $1 and actor_kind = 'operator_key' and event !~ 'used|viewed' order by id`,
      [id],
    )
  ).map(({ event }) => event);

describe('accounts over the operator API', () => {
  test('an account is created, read by id and by external id, changed and deleted; each change is recorded as the key’s', async ({
    api,
  }) => {
    const operator = await anOperator(api);
    const externalId = newId('crm');
    const email = `${externalId}@example.com`;
    const avatar = 'https://example.com/ada.png';
    const created = await operator.post(ACCOUNTS, {
      email,
      externalId,
      firstName: 'Ada',
      avatar,
      preferredLocale: 'pt_BR',
      isEmailVerified: true,
    });
    const { id } = created.body;

    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      email,
      externalId,
      firstName: 'Ada',
      avatar,
      preferredLocale: 'pt-BR',
      role: 'user',
      disabledAt: null,
    });
    expect((await operator.get(`${ACCOUNTS}/${id}`)).body).toEqual(created.body);
    expect((await operator.get(`${ACCOUNTS}/ext:${externalId}`)).body).toEqual(created.body);

    const changed = await operator.patch(`${ACCOUNTS}/ext:${externalId}`, { lastName: 'Lovelace', externalId: null });
    expect(changed.body).toMatchObject({ id, firstName: 'Ada', lastName: 'Lovelace', externalId: null });
    expect(await operator.get(`${ACCOUNTS}/ext:${externalId}`)).toBeProblem('account_not_found');

    expect((await operator.delete(`${ACCOUNTS}/${id}`)).status).toBe(200);
    expect(await operator.get(`${ACCOUNTS}/${id}`)).toBeProblem('account_not_found');
    expect(await operator.delete(`${ACCOUNTS}/${id}`)).toBeProblem('account_not_found');
    expect(await eventsOf(api, operator.key)).toEqual([
      'account.created',
      'account.profile_changed',
      'account.deleted',
    ]);
  });

  test('an address or external id that is in use is 409 and names the field', async ({ api }) => {
    const operator = await anOperator(api);
    const externalId = newId('crm');
    const taken = await api.anAccount();
    await operator.patch(`${ACCOUNTS}/${taken.id}`, { externalId });
    const other = await api.anAccount();

    for (const [body, pointer] of [
      [{ email: taken.email.toUpperCase() }, '/email'],
      [{ email: `${newId('a')}@example.com`, externalId }, '/externalId'],
    ] as const) {
      const answers = [await operator.post(ACCOUNTS, body), await operator.patch(`${ACCOUNTS}/${other.id}`, body)];
      for (const answer of answers) {
        expect(answer).toBeProblem('already_taken');
        expect(answer.body.errors).toEqual([{ in: 'body', pointer, code: 'invalid_value' }]);
      }
    }
    expect(await eventsOf(api, operator.key)).toEqual(['account.profile_changed']);
  });

  test('of 20 parallel creations with one external id one succeeds', async ({ api }) => {
    const operator = await anOperator(api);
    const externalId = newId('crm');
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        operator.post(ACCOUNTS, { email: `${i}.${externalId}@example.com`, externalId }),
      ),
    );

    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.code === 'already_taken')).toHaveLength(19);
  });

  test('a disabled account is rejected by the API until it is enabled, and is listed as disabled', async ({ api }) => {
    const operator = await anOperator(api);
    const account = await api.anAccount();
    const key = await api.anApiKey(account, { scopes: ALL_SCOPES });
    await api.aSession(account);

    const disabled = await operator.post(`${ACCOUNTS}/${account.id}/disable`);
    expect(disabled.body.disabledAt).not.toBeNull();
    expect(await api.as(key).get('/api/v1/me')).toBeProblem('credential_invalid');
    const listed = await pagesOf(operator, `${ACCOUNTS}?disabled=true`, 100);
    expect(listed.map(({ id }) => id)).toContain(account.id);

    const enabled = await operator.post(`${ACCOUNTS}/${account.id}/enable`);
    expect(enabled.body.disabledAt).toBeNull();
    expect((await api.as(key).get('/api/v1/me')).status).toBe(200);
    expect(await eventsOf(api, operator.key)).toEqual([
      'operator.account_disabled',
      'session.ended',
      'operator.account_enabled',
    ]);
  });

  test('ends the sessions of an account and leaves its keys', async ({ api }) => {
    const operator = await anOperator(api);
    const account = await api.anAccount();
    const key = await api.anApiKey(account, { scopes: ALL_SCOPES });
    await api.aSession(account);
    await api.aSession(account);
    const sessions = `${ACCOUNTS}/${account.id}/sessions`;

    expect((await operator.delete(sessions)).body).toEqual({ ended: 2 });
    expect((await operator.delete(sessions)).body).toEqual({ ended: 0 });
    expect((await api.as(key).get('/api/v1/me/sessions')).body).toEqual([]);
  });

  test('a new email address is unverified unless the operator says otherwise, and both mailboxes are told', async ({
    api,
  }) => {
    const operator = await anOperator(api);
    const account = await api.anAccount();
    const [first, second] = [`first-${account.email}`, `second-${account.email}`];

    const unverified = await operator.patch(`${ACCOUNTS}/${account.id}`, { email: first });
    expect(unverified.body).toMatchObject({ email: first, emailVerified: null });
    const verified = await operator.patch(`${ACCOUNTS}/${account.id}`, { email: second, isEmailVerified: true });
    expect(verified.body.emailVerified).not.toBeNull();
    // Another spelling is stored, and is no other address.
    const email = second.toUpperCase();
    const recased = await operator.patch(`${ACCOUNTS}/${account.id}`, { email });
    expect(recased.body).toEqual({ ...verified.body, email, updatedAt: expect.any(String) });
    expect((await api.mailTo(account.email)).subject).toMatch(/email/i);
    expect((await api.mailTo(second)).subject).toMatch(/email/i);
    expect(await eventsOf(api, operator.key)).toEqual([
      'account.email_changed',
      'account.email_changed',
      'account.profile_changed',
    ]);
  });

  test('sends a link that works, and refuses one that the account has no use for', async ({ api }) => {
    const operator = await anOperator(api);
    const account = await api.anAccount();
    const send = (kind: string) => operator.post(`${ACCOUNTS}/${account.id}/links`, { kind });

    expect((await send('sign_in')).body).toEqual({ success: true });
    expect((await api.mailTo(account.email)).text).toMatch(/rst_si_\w+/);
    expect((await send('verify_email')).body.errors).toEqual([{ in: 'body', pointer: '/kind', code: 'invalid_value' }]);
    expect((await send('other')).body.errors[0]).toMatchObject({ pointer: '/kind', code: 'invalid_value' });
    await operator.post(`${ACCOUNTS}/${account.id}/disable`);
    expect(await send('reset_password')).toBeProblem('validation_failed');
    expect(await eventsOf(api, operator.key)).toEqual(['account.link_emailed', 'operator.account_disabled']);
  });

  test('an account that owns a team with others is not deleted', async ({ api }) => {
    const operator = await anOperator(api);
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    await api.aMember(team, await api.anAccount());

    expect(await operator.delete(`${ACCOUNTS}/${owner.id}`)).toBeProblem('account_owns_teams');
    expect((await operator.get(`${ACCOUNTS}/${owner.id}`)).status).toBe(200);
  });
});

describe('the account of an operator', () => {
  const anOperatorsAccount = async (api: Api) => {
    const account = await api.anAccount();
    await api.rows(`update account set role = 'admin' where id = $1`, [account.id]);
    return account;
  };

  test('is not taken over, disabled, enabled or deleted with a key, also if it is the last one', async ({ api }) => {
    const operator = await anOperator(api);
    const account = await anOperatorsAccount(api);
    await api.rows('update account set email_verified_at = null where id = $1', [account.id]);
    const path = `${ACCOUNTS}/${account.id}`;
    const before = (await operator.get(path)).body;

    const refused = [
      await operator.patch(path, { email: `${newId('mine')}@example.com`, isEmailVerified: true }),
      await operator.patch(path, { externalId: newId('mine') }),
      await operator.patch(path, { isEmailVerified: true }),
      await operator.post(`${path}/disable`),
      await operator.post(`${path}/enable`),
      await operator.delete(path),
    ];
    for (const answer of refused) expect(answer).toBeProblem('session_required');
    expect((await operator.get(path)).body).toEqual(before);
    expect(await eventsOf(api, operator.key)).toEqual([]);
  });

  test('has its other fields changed, its sessions ended and links emailed with a key', async ({ api }) => {
    const operator = await anOperator(api);
    const account = await anOperatorsAccount(api);
    await api.aSession(account);
    const path = `${ACCOUNTS}/${account.id}`;

    expect((await operator.patch(path, { lastName: 'Lovelace' })).body.lastName).toBe('Lovelace');
    expect((await operator.delete(`${path}/sessions`)).body).toEqual({ ended: 1 });
    expect((await operator.post(`${path}/links`, { kind: 'sign_in' })).status).toBe(200);
  });

  test('is read under its lock: one that becomes an operator while the change waits stays', async ({ api }) => {
    for (const change of ['disable', 'delete'] as const) {
      const operator = await anOperator(api);
      const account = await api.anAccount();
      const path = `${ACCOUNTS}/${account.id}`;
      const em = api.services.db.orm.em.fork();
      await em.begin();
      await em.execute(`update account set role = 'admin' where id = ?`, [account.id]);
      const answer = change === 'disable' ? operator.post(`${path}/disable`) : operator.delete(path);
      await expect
        .poll(() =>
          api.rows(
            `select 1 from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock' and query like '%account%'`,
          ),
        )
        .not.toEqual([]);
      await em.commit();

      expect(await answer).toBeProblem('session_required');
      expect((await operator.get(path)).body).toMatchObject({ role: 'admin', disabledAt: null });
    }
  });
});

describe('a search of accounts', () => {
  test('finds by the beginning of address, name and external id, in one order over all pages', async ({ api }) => {
    const operator = await anOperator(api);
    const stem = newId('find').toUpperCase();
    const made: Account[] = [];
    for (let i = 0; i < 7; i++) {
      const email = `${stem}.${i}@example.com`;
      const body = {
        email,
        externalId: `${stem}-${6 - i}`,
        firstName: i === 6 ? `${stem}%` : stem,
        lastName: `Na_me${i}`,
      };
      made.push((await operator.post(ACCOUNTS, body)).body);
    }
    await api.anAccount({ email: `${stem.slice(0, -1)}@example.com`, firstName: stem.slice(0, -1) });
    const idsOf = async (query: string, limit = 2) =>
      (await pagesOf(operator, `${ACCOUNTS}?${query}`, limit)).map(({ id }) => id);
    const ids = made.map(({ id }) => id);

    expect(await idsOf(`email=${stem.toLowerCase()}`)).toEqual(ids);
    expect(await idsOf(`externalId=${stem}`)).toEqual(ids.toReversed());
    expect(new Set(await idsOf(`name=${stem.toLowerCase()}`))).toEqual(new Set(ids));
    expect(await idsOf(`name=${stem}%20na_me3`)).toEqual([ids[3]]);
    expect(await idsOf(`name=${stem}%25`)).toEqual([ids[6]]);
    expect(await idsOf(`externalId=${stem}_`)).toEqual([]);
    expect(await idsOf(`lastName=${stem}`)).toEqual([]);
    expect(await idsOf(`externalId=${stem.toLowerCase()}`)).toEqual([]);
  });

  test('finds by the beginning of the last name, in any case and with any first name', async ({ api }) => {
    const operator = await anOperator(api);
    const stem = newId('LÄST');
    const add = (lastName: string, firstName?: string) => api.anAccount({ lastName, ...(firstName && { firstName }) });
    const later = await add(`${stem}b`, 'Ada');
    const same = await add(`${stem}b`.toLowerCase());
    const first = await add(`${stem}A`, 'Zoe');
    await add(`x${stem}`);

    const found = await pagesOf(operator, `${ACCOUNTS}?lastName=${encodeURIComponent(stem.toLowerCase())}`, 1);
    expect(found.map(({ id }) => id)).toEqual([first.id, later.id, same.id]);
    expect(await operator.get(`${ACCOUNTS}?lastName=a&name=a`)).toBeProblem('validation_failed');
  });

  test('pages are stable while accounts are inserted and deleted: none twice, none that stayed is missing', async ({
    api,
  }) => {
    const operator = await anOperator(api);
    const stem = newId('stable');
    const add = (name: string) => api.anAccount({ email: `${stem}.${name}@example.com`, firstName: stem });
    for (const name of ['b', 'd', 'f', 'h']) await add(name);
    const seen: string[] = [];
    let cursor = '';
    for (const between of ['a', 'e', 'g', 'i', 'j']) {
      const { body } = await operator.get(`${ACCOUNTS}?email=${stem}&limit=1${cursor}`);
      seen.push(...body.accounts.map(({ email }: Account) => email.slice(stem.length + 1, stem.length + 2)));
      if (body.nextCursor === null) break;
      cursor = `&cursor=${body.nextCursor}`;
      await add(between);
      if (seen.length === 2) await api.rows('delete from account where email = $1', [`${stem}.d@example.com`]);
    }

    expect(seen).toEqual(['b', 'd', 'e', 'f', 'g']);
  });

  test('rejects two searches at once, cursors of another search, and values that no list can have', async ({ api }) => {
    const operator = await anOperator(api);
    const stem = newId('odd');
    for (const i of [1, 2]) await api.anAccount({ email: `${stem}.${i}@example.com` });
    const { nextCursor } = (await operator.get(`${ACCOUNTS}?email=${stem}&limit=1`)).body;

    for (const query of [
      'email=a&name=b',
      'disabled=true&email=a',
      `email=${stem}.&cursor=${nextCursor}`,
      `cursor=${nextCursor}`,
      'cursor=x',
      'cursor=bnVsbA',
      'cursor=WzEsMiwzXQ',
      'limit=0',
      'limit=101',
      'limit=x',
      'email=',
      'email=%00',
    ])
      expect(await operator.get(`${ACCOUNTS}?${query}`), query).toBeProblem('validation_failed');
  });
});
