import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { seedDemo } from '../../src/demo/seed.ts';
import { createAccount, enableAccount } from '../../src/resources/accounts/accounts.service.ts';
import { test, type Api } from '../support/api.ts';
import { as } from '../trpc/console.ts';
import { allMailed, anAddress, aPerson } from '../trpc/people.ts';

const SRC = join(import.meta.dirname, '../../src');

async function anOperator(api: Api, { isDisabled = false } = {}) {
  const account = await aPerson(api);
  await api.rows(`update account set role = 'admin', disabled_at = $2 where id = $1`, [
    account.id,
    isDisabled ? new Date() : null,
  ]);
  return account;
}

/** Every way by which an account becomes an operator, with the file that leads there. Each returns its address. */
const WAYS: readonly (readonly [name: string, file: string, act: (api: Api) => Promise<string>])[] = [
  [
    'the command `account create --role admin`',
    'cli/account.ts',
    async ({ services: { db, config } }) => {
      const email = anAddress();
      await createAccount(db, 'system', config, { email, role: 'admin' });
      return email;
    },
  ],
  [
    'the demo data',
    'demo/seed.ts',
    async ({ services }) =>
      (await seedDemo(services)).accounts.find(({ role }) => role === 'Operator')?.email ?? 'nobody',
  ],
  [
    'the command `account enable`',
    'cli/account.ts',
    async (api) => {
      const { id, email } = await anOperator(api, { isDisabled: true });
      await enableAccount(api.services.db, 'system', id);
      return email;
    },
  ],
  [
    'the operator’s area, which enables it',
    'resources/accounts/accounts.operator.router.ts',
    async (api) => {
      const { id, email } = await anOperator(api, { isDisabled: true });
      await (await as(api, await anOperator(api))).operator.enableAccount.mutate({ accountId: id });
      return email;
    },
  ],
];

// Guarantees that nobody becomes an operator in silence.
describe.for(WAYS)('an operator by %s', ([, , act]) => {
  test('is reported to the other operators by email, and to nobody else', async ({ api }) => {
    const [other, user] = [await anOperator(api), await aPerson(api)];
    const email = await act(api);
    await allMailed(api);

    const [name = email] = email.split('@'); // texts break what email clients make links of
    const told = api.mails.filter(({ subject, text }) => subject === 'An operator was added' && text?.includes(name));
    expect(told.map(({ to }) => to)).toContain(other.email);
    for (const to of [email, user.email]) expect(told.map((mail) => mail.to)).not.toContain(to);
  });
});

test('the operator API creates no operators', async ({ api }) => {
  const operator = api.as(await api.anOperatorKey());
  expect(await operator.post('/operator/v1/accounts', { email: anAddress(), role: 'admin' })).toBeProblem(
    'validation_failed',
  );
});

test('no other file gives the role of an operator, or gives it back', () => {
  const ROLE = /ACCOUNT_ROLES\)|(?<!role = |role === )'admin'|createAccount\(|enableAccount\(/;
  const DECLARES = ['entities/account.ts', 'resources/accounts/accounts.service.ts'];
  const READS = ['account-list.queries.ts', 'operator-api.schema.ts', 'operator.queries.ts', 'operator.schema.ts'];
  const known = [...DECLARES, ...READS.map((name) => `resources/operator/${name}`), ...WAYS.map(([, file]) => file)];
  const found = globSync('**/*.ts', { cwd: SRC, exclude: ['web/**'] });
  const giving = found.filter((file) => ROLE.test(readFileSync(join(SRC, file), 'utf8')));
  expect(giving.toSorted()).toEqual([...new Set(known)].toSorted());
});
