import type { Api } from '../../support/api.ts';
import { aPerson, chooseOf } from '../console.ts';
import { LONG_NAME, shown, type Scene } from './scene.ts';

/** The other pages of a team. */
export const teams: readonly Scene[] = [
  [
    'roles-empty',
    async (api, open) => {
      const owner = await aPerson(api);
      const team = await api.aTeam({ owner, name: 'Analytical Engine' });
      const page = await open(`/teams/${team.id}/roles`, owner);
      await page.getByText('No custom roles yet').waitFor();
      return page;
    },
  ],
  [
    'roles',
    async (api, open) => {
      const { owner, path } = await aCrowdWithRoles(api);
      const page = await open(`${path}/roles`, owner);
      await page.getByText(/^2 members$/).click();
      await page.getByText('Charles Babbage (not active)').waitFor();
      return page;
    },
  ],
  [
    'roles-read-only',
    async (api, open) => {
      const { bookkeeper, path } = await aCrowdWithRoles(api);
      const page = await open(`${path}/roles`, bookkeeper);
      await page.getByText('Your role does not allow changing roles.').waitFor();
      await page.getByText(/^2 members$/).waitFor();
      return page;
    },
  ],
  [
    'create-role',
    async (api, open) => {
      const { editor, path } = await aCrowdWithRoles(api);
      const page = await open(`${path}/roles`, editor);
      await page.getByRole('button', { name: 'Create role' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill(' guest ');
      await dialog.getByLabel('View members and roles').check();
      await dialog.getByRole('button', { name: 'Create role' }).click();
      await dialog.getByText('A role with this name exists.').waitFor();
      return page;
    },
  ],
  [
    'delete-role',
    async (api, open) => {
      const { owner, path } = await aCrowdWithRoles(api);
      const page = await open(`${path}/roles`, owner);
      await chooseOf(page, 'Bookkeeper', 'Delete Bookkeeper');
      await page.getByText('2 members and 1 pending invitation get the replacement.').waitFor();
      return page;
    },
  ],
  [
    'team-settings',
    async (api, open) => {
      const { owner, path } = await aCrowdWithRoles(api);
      const page = await open(`${path}/settings`, owner);
      await page.getByRole('button', { name: 'Delete team…' }).waitFor();
      return page;
    },
  ],
  [
    'team-settings-read-only',
    async (api, open) => {
      const { bookkeeper, path } = await aCrowdWithRoles(api);
      const page = await open(`${path}/settings`, bookkeeper);
      await page.getByRole('button', { name: 'Leave team…' }).waitFor();
      return page;
    },
  ],
  [
    'delete-team',
    async (api, open) => {
      const { owner, path } = await aCrowdWithRoles(api);
      const page = await open(`${path}/settings`, owner);
      await page.getByRole('button', { name: 'Delete team…' }).click();
      await page.getByLabel('Type the team’s name to confirm').waitFor();
      return page;
    },
  ],
  [
    'billing-free',
    async (api, open) => {
      const owner = await aPerson(api);
      const team = await api.aTeam({ owner, name: 'Analytical Engine' });
      const page = await open(`/teams/${team.id}/billing`, owner);
      await page.getByText('1 of 5 seats used').waitFor();
      await page.getByText('The team has no subscription').waitFor();
      return page;
    },
  ],
  [
    'billing',
    async (api, open) => {
      const { owner, path, team } = await aCrowdWithRoles(api);
      await api.aSubscription(team, { seats: 3 });
      await api.rows(
        `update subscription set status = 'past_due', plan_expires_at = '2099-01-31T00:00:00Z',
           cancel_at_period_end = true, needs_payment_action = true, addons = '{"seats": 3, "storage": 20}'
         where team_id = $1`,
        [team.id],
      );
      const page = await open(`${path}/billing`, owner);
      await page.getByText('Payment action required').waitFor();
      await page.getByText('of 53 seats').waitFor();
      return page;
    },
  ],
  [
    'billing-refused',
    async (api, open) => {
      const { editor, path } = await aCrowdWithRoles(api);
      const page = await open(`${path}/billing`, editor);
      await page.getByText('You cannot see this page').waitFor();
      await page.getByText(/View plan and billing/).waitFor();
      return page;
    },
  ],
  [
    'overview',
    async (api, open) => {
      const { owner, path, team } = await aCrowdWithRoles(api);
      await api.anApiKey(owner, { team });
      const page = await open(path, owner);
      await page.getByText('4 of 5 used').waitFor();
      return page;
    },
  ],
  [
    'overview-first-steps',
    async (api, open) => {
      const owner = await aPerson(api);
      await api.aTeam({ owner, name: LONG_NAME });
      const team = await api.aTeam({ owner, name: 'Analytical Engine' });
      await api.anInvitation(team);
      const page = await open(`/teams/${team.id}`, owner);
      await page.getByRole('heading', { name: 'Create an API key' }).waitFor();
      return page;
    },
  ],
  [
    'overview-guest',
    async (api, open) => {
      const guest = await aPerson(api);
      const { team, path } = await aCrowdWithRoles(api);
      await api.aMember(team, guest);
      const page = await open(path, guest);
      await page.getByText('5 of 5 used').waitFor();
      return page;
    },
  ],
  [
    'team-gone',
    async (api, open) => shown(await open('/teams/nothing', await aPerson(api)), 'You cannot see this team'),
  ],
  [
    'shortcuts',
    async (api, open) => {
      const page = await shown(await open('/', await aPerson(api)), 'Your teams');
      await page.keyboard.press('?');
      await page.getByRole('dialog').getByLabel('Use keyboard shortcuts').waitFor();
      return page;
    },
  ],
];
/** A team with roles of its own, one of them with a long name, that members hold and somebody is invited to. */
async function aCrowdWithRoles(api: Api) {
  const owner = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
  const team = await api.aTeam({ owner, name: LONG_NAME });
  const bookkeepers = await api.aRole(team, ['access_dashboard', 'access_billing']);
  await api.rows(`update role set name = 'Bookkeeper' where id = $1`, [bookkeepers.id]);
  const editors = await api.aRole(team, ['edit_team_settings', 'access_dashboard', 'invite_members']);
  await api.rows('update role set name = $2 where id = $1', [editors.id, LONG_NAME]);
  const bookkeeper = await aPerson(api, { firstName: 'Grace', lastName: 'Hopper' });
  const editor = await aPerson(api, { firstName: LONG_NAME, lastName: 'Müller' });
  const past = await aPerson(api, { firstName: 'Charles', lastName: 'Babbage' });
  await api.aMember(team, bookkeeper, { role: bookkeepers.id });
  await api.aMember(team, past, { role: bookkeepers.id, active: false });
  await api.aMember(team, editor, { role: editors.id });
  await api.anInvitation(team, { role: bookkeepers.id });
  await api.rows('update team set description = $2 where id = $1', [team.id, `${LONG_NAME}. `.repeat(3)]);
  return { owner, bookkeeper, editor, team, path: `/teams/${team.id}` };
}
