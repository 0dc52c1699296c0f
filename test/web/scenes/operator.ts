import type { Api } from '../../support/api.ts';
import { aPerson } from '../console.ts';
import { LONG_NAME, shown, type Scene } from './scene.ts';

/** The operator’s area. */
export const operator: readonly Scene[] = [
  [
    'operator',
    async (api, open) => {
      await aFailedJob(api);
      const page = await open('/operator', await anOperator(api));
      await page.getByText('The mail server').waitFor();
      return page;
    },
  ],
  [
    'operator-found',
    async (api, open) => {
      const email = `found-${crypto.randomUUID()}`;
      await api.anAccount({ email: `${email}@example.com`, firstName: LONG_NAME, lastName: 'Müller' });
      const { id } = await api.anAccount({ email: `${email}@second.example.com` });
      await api.rows('update account set disabled_at = now() where id = $1', [id]);
      await api.aTeam({ name: `${email}, ${LONG_NAME}` });
      const page = await open(`/operator?find=${email}`, await anOperator(api));
      await page.getByRole('region', { name: 'Teams' }).waitFor();
      return page;
    },
  ],
  [
    'operator-none-found',
    async (api, open) => {
      const page = await open('/operator?find=nobody%20is%20called%20so', await anOperator(api));
      await page.getByText('No results').waitFor();
      return page;
    },
  ],
  [
    'operator-account',
    async (api, open) => {
      const page = await open(await anOperatedAccount(api), await anOperator(api));
      await page.getByRole('button', { name: 'Disable account…' }).waitFor();
      return page;
    },
  ],
  [
    'operator-account-disabled',
    async (api, open) => {
      const { id } = await api.anAccount({ firstName: 'Ada', lastName: 'Lovelace' });
      await api.rows(`update account set disabled_at = now(), role = 'admin' where id = $1`, [id]);
      const page = await open(`/operator/accounts/${id}`, await anOperator(api));
      await page.getByRole('button', { name: 'Enable account' }).waitFor();
      return page;
    },
  ],
  [
    'operator-disable',
    async (api, open) => {
      const page = await open(await anOperatedAccount(api), await anOperator(api));
      await page.getByRole('button', { name: 'Disable account…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Disable account' }).waitFor();
      return page;
    },
  ],
  [
    'operator-team',
    async (api, open) => {
      const team = await api.aTeam({ name: LONG_NAME, owner: await api.anAccount({ firstName: LONG_NAME }) });
      await api.anInvitation(team);
      await api.aSubscription(team, { plan: 'pro', seats: 3 });
      const page = await open(`/operator/teams/${team.id}`, await anOperator(api));
      return shown(page, LONG_NAME);
    },
  ],
  [
    'operator-no-such-team',
    async (api, open) => {
      const page = await open('/operator/teams/team_none', await anOperator(api));
      await page.getByRole('alert').waitFor();
      return page;
    },
  ],
  [
    'operator-accounts',
    async (api, open) => {
      const mark = `list-${crypto.randomUUID()}`;
      await api.anAccount({ email: `${mark}@example.com`, firstName: LONG_NAME, lastName: 'Müller' });
      const page = await open(`/operator/accounts?by=email&text=${mark}`, await anOperator(api));
      await page.getByRole('table', { name: 'Accounts' }).waitFor();
      return page;
    },
  ],
  [
    'operator-teams-none',
    async (api, open) => {
      const page = await open('/operator/teams?by=slug&text=nothing-begins-so', await anOperator(api));
      await page.getByText('Nothing found').first().waitFor();
      return page;
    },
  ],
  [
    'operator-members',
    async (api, open) => {
      const team = await api.aTeam({ owner: await api.anAccount({ firstName: LONG_NAME }) });
      await api.aMember(team, await api.anAccount({ firstName: 'Bob' }), { role: 'member', active: false });
      const page = await open(`/operator/teams/${team.id}/members`, await anOperator(api));
      await page.getByRole('table', { name: 'Members' }).waitFor();
      return page;
    },
  ],
  [
    'operator-subscription',
    async (api, open) => {
      const team = await api.aTeam({ name: 'Analytical Engine', owner: await api.anAccount() });
      await api.aSubscription(team, { plan: 'pro', seats: 3 });
      const page = await open(`/operator/teams/${team.id}`, await anOperator(api));
      await page.getByRole('button', { name: 'Change subscription…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).waitFor();
      return page;
    },
  ],
  [
    'operator-account-keys',
    async (api, open) => {
      const account = await api.anAccount({ firstName: 'Ada', lastName: 'Lovelace' });
      await api.anApiKey(account);
      const page = await open(`/operator/accounts/${account.id}/keys`, await anOperator(api));
      await page.getByRole('button', { name: 'Actions for A key' }).waitFor();
      return page;
    },
  ],
  [
    'operator-keys',
    async (api, open) => {
      await api.anOperatorKey({ addresses: ['203.0.113.0/24', '2001:db8::/32'] });
      const page = await open('/operator/keys', await anOperator(api));
      await page.getByRole('button', { name: 'Create operator key' }).click();
      await page.getByRole('dialog').getByText('Select at least one scope.').waitFor();
      return page;
    },
  ],
  [
    'operator-jobs',
    async (api, open) => {
      await aFailedJob(api);
      const page = await open('/operator/jobs?show=failed', await anOperator(api));
      await page.getByText('The mail server').first().waitFor();
      return page;
    },
  ],
  [
    'operator-audit',
    async (api, open) => {
      const operator = await anOperator(api);
      const page = await open(`/operator/audit?actorId=${operator.id}`, operator);
      await page.getByText('No matching events').first().waitFor();
      await page.reload();
      await page.getByRole('table', { name: 'Audit log' }).waitFor();
      return page;
    },
  ],
  ['operator-refused', async (api, open) => shown(await open('/operator', await aPerson(api)), /for operators$/)],
];

async function anOperator(api: Api) {
  const account = await aPerson(api, { firstName: 'Olga', lastName: 'Operator' });
  await api.rows(`update account set role = 'admin' where id = $1`, [account.id]);
  return account;
}

/** The page of an account with all sorts of teams and credentials. */
async function anOperatedAccount(api: Api): Promise<string> {
  const account = await api.anAccount({
    email: `a-rather-long-address-of-somebody.${crypto.randomUUID()}@example.com`,
    firstName: 'Ada',
    lastName: 'Lovelace',
  });
  await api.aTeam({ owner: account, name: 'Analytical Engine' });
  await api.aMember(await api.aTeam({ name: LONG_NAME }), account, { role: 'member', active: false });
  await api.aSession(account);
  await api.aSession(account);
  await api.anApiKey(account);
  await api.aGrant(account);
  return `/operator/accounts/${account.id}`;
}

/** A job that is tried again later. */
async function aFailedJob(api: Api): Promise<void> {
  await api.rows(
    `select graphile_worker.add_job('sendInvitation', run_at := now() + interval '1 day', job_key := 'a')`,
  );
  await api.rows(
    `update graphile_worker._private_jobs set attempts = 3, last_error = $1 where run_at > now() + interval '1 hour'`,
    ['The mail server at smtp.example.com did not take the mail: 451 4.7.1 Greylisting in action, come back later'],
  );
}
