import type { Api } from '../../support/api.ts';
import { aPerson } from '../console.ts';
import { LONG_NAME, type Scene } from './scene.ts';

const LONG_ADDRESS = 'a-rather-long-address-of-somebody-who-is-invited@a-company.example.com';

/** The invitations of a team. */
export const invitations: readonly Scene[] = [
  [
    'invitations',
    async (api, open) => {
      const { owner, team, path } = await aTeam(api);
      await api.anInvitation(team, { email: LONG_ADDRESS });
      const { id } = await api.anInvitation(team, { email: 'grace@example.com' });
      await api.rows('update invitation set expires_at = $2 where id = $1', [id, new Date('2020-01-31T12:00:00Z')]);
      const page = await open(path, owner);
      await page.getByText('grace@example.com').waitFor();
      return page;
    },
  ],
  [
    'invitations-none',
    async (api, open) => {
      const { owner, path } = await aTeam(api);
      const page = await open(path, owner);
      await page.getByText('No pending invitations').waitFor();
      return page;
    },
  ],
  [
    'invite',
    async (api, open) => {
      const { owner, path } = await aTeam(api);
      const page = await open(path, owner);
      await page.getByRole('button', { name: 'Invite people' }).click();
      await page.getByRole('dialog').getByText('View members and roles').waitFor();
      return page;
    },
  ],
  [
    'invited',
    async (api, open) => {
      const { owner, path } = await aTeam(api);
      const page = await open(path, owner);
      await page.getByRole('button', { name: 'Invite people' }).click();
      await page.getByLabel('Email addresses').fill(`${LONG_ADDRESS}\nnot an address`);
      await page.getByRole('button', { name: 'Send 2 invitations' }).click();
      await page.getByText('1 invited, 1 not invited.').waitFor();
      return page;
    },
  ],
  [
    'invitations-refused',
    async (api, open) => {
      const { team, path } = await aTeam(api);
      const guest = await aPerson(api);
      await api.aMember(team, guest, { role: 'guest' });
      const page = await open(path, guest);
      await page.getByText('You cannot see this page').waitFor();
      return page;
    },
  ],
];

async function aTeam(api: Api) {
  const owner = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
  const team = await api.aTeam({ owner, name: LONG_NAME });
  return { owner, team, path: `/teams/${team.id}/invitations` };
}
