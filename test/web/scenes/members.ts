import type { Api } from '../../support/api.ts';
import { aPerson } from '../console.ts';
import { LONG_NAME, type Scene } from './scene.ts';

/** The members of a team, and its ownership. */
export const members: readonly Scene[] = [
  [
    'members',
    async (api, open) => {
      const { owner, path } = await aCrowd(api);
      const page = await open(path, owner);
      await page.getByRole('row', { name: /Grace Hopper/ }).waitFor();
      await page.getByText(/^Offered to/).waitFor();
      return page;
    },
  ],
  [
    'members-none-found',
    async (api, open) => {
      const { owner, path } = await aCrowd(api);
      const page = await open(path, owner);
      await page.getByRole('searchbox').fill('nobody of this name');
      await page.getByText('No results').waitFor();
      return page;
    },
  ],
  [
    'members-menu',
    async (api, open) => {
      const { owner, path } = await aCrowd(api);
      const page = await open(path, owner);
      await page.getByRole('button', { name: 'Actions for Grace Hopper' }).click();
      await page.getByRole('menuitem', { name: 'Deactivate' }).waitFor();
      return page;
    },
  ],
  [
    'members-offered',
    async (api, open) => {
      const { nominee, path } = await aCrowd(api);
      const page = await open(path, nominee);
      await page.getByRole('button', { name: /^Accept ownership/ }).waitFor();
      await page.getByRole('row', { name: /Grace Hopper/ }).waitFor();
      return page;
    },
  ],
  [
    'accept-ownership',
    async (api, open) => {
      const { nominee } = await aCrowd(api);
      const page = await open('/', nominee);
      await page.getByRole('button', { name: /^Accept ownership/ }).click();
      await page.getByRole('dialog').waitFor();
      return page;
    },
  ],
  [
    'leave-team',
    async (api, open) => {
      const { nominee, path } = await aCrowd(api);
      const page = await open(path.replace('/members', '/settings'), nominee);
      await page.getByRole('button', { name: 'Leave team…' }).click();
      await page.getByRole('dialog').waitFor();
      return page;
    },
  ],
  ...(
    [
      ['change-role', 'Change role…'],
      ['member-expiry', 'Change the end date…'],
      ['remove-member', 'Remove…'],
      ['offer-ownership', 'Offer ownership…'],
    ] as const
  ).map(([name, action]): Scene => [
    name,
    async (api, open) => {
      const { owner, path } = await aCrowd(api);
      const page = await open(path, owner);
      await page.getByRole('button', { name: 'Actions for Grace Hopper' }).click();
      await page.getByRole('menuitem', { name: action }).click();
      await page.getByRole('dialog').getByRole('button').last().waitFor();
      if (name === 'remove-member') await page.getByText('This also revokes:').waitFor();
      return page;
    },
  ]),
];

/** A team with members in every state, some with long names, that is offered to one of them. */
async function aCrowd(api: Api) {
  const owner = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
  const team = await api.aTeam({ owner, name: LONG_NAME });
  const nominee = await aPerson(api, { firstName: LONG_NAME, lastName: 'Müller' });
  const grace = await aPerson(api, { firstName: 'Grace', lastName: 'Hopper' });
  const nameless = await api.anAccount({
    email: `a-rather-long-address-of-somebody.${crypto.randomUUID()}@example.com`,
  });
  const past = await api.anAccount({ firstName: 'Charles', lastName: 'Babbage' });
  await api.aMember(team, nominee, { role: 'member' });
  await api.aMember(team, grace, { role: 'member', expiresAt: new Date('2099-01-31T23:59:59Z') });
  await api.aMember(team, nameless, { active: false });
  await api.aMember(team, past, { expiresAt: new Date('2020-01-31T23:59:59Z') });
  await api.anApiKey(grace, { team });
  await api.aGrant(grace, { team });
  await api.rows(
    `insert into ownership_transfer (team_id, nominee_id, expires_at, created_at)
     values ($1, $2, now() + interval '7 days', now())`,
    [team.id, nominee.id],
  );
  return { owner, nominee, path: `/teams/${team.id}/members` };
}
