import { SCOPES } from '../../../src/entities/index.ts';
import type { Api } from '../../support/api.ts';
import { signedIn } from '../../support/browser.ts';
import { aPerson, linkIn } from '../console.ts';
import { LONG_NAME, shown, type Scene } from './scene.ts';

/** What is nobody else’s but the reader’s. */
export const homeAndAccount: readonly Scene[] = [
  [
    'home-empty',
    async (api, open) => {
      const page = await open('/', await aPerson(api));
      await page.getByText('You are not in a team yet').waitFor();
      return page;
    },
  ],
  [
    'home',
    async (api, open) => {
      const person = await aPerson(api);
      await api.rows('update account set email_verified_at = null where id = $1', [person.id]);
      await api.aTeam({ owner: person, name: 'Analytical Engine' });
      await api.aMember(
        await api.aTeam({ name: 'Böhm & Söhne, a team with a name as long as a name of a team may sensibly be' }),
        person,
        { role: 'member' },
      );
      const page = await open('/', person);
      await page.getByText('Analytical Engine').waitFor();
      return page;
    },
  ],
  [
    'create-team',
    async (api, open) => {
      const page = await open('/', await aPerson(api));
      await page.getByRole('button', { name: 'Create team' }).click();
      await page.getByRole('dialog').getByLabel('Team name').waitFor();
      return page;
    },
  ],
  [
    'account',
    async (api, open) => {
      const person = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
      await api.aSession(person, { browser: 'Firefox' });
      await api.aGrant(person, { client: await api.anOAuthClient({ name: 'Backup' }), scopes: SCOPES });
      await api.aGrant(person, {
        client: await api.anOAuthClient({ name: LONG_NAME }),
        scopes: ['teams:read', 'members:read'],
        team: await api.aTeam({ owner: person, name: LONG_NAME }),
      });
      const page = await open('/account', person);
      await page.getByRole('button', { name: 'Sign out Firefox' }).waitFor();
      await page.getByRole('button', { name: 'Actions for Backup' }).waitFor();
      return page;
    },
  ],
  [
    'delete-account',
    async (api, open) => {
      const page = await open('/account', await aPerson(api));
      await page.getByRole('button', { name: 'Delete account…' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete account' }).waitFor();
      return page;
    },
  ],
  ['invitation', async (api, open) => shown(await open(await invitationLink(api)), /^Join/)],
  [
    'invitation-for-another',
    async (api, open) => {
      const page = await open(await invitationLink(api), await aPerson(api));
      await page.getByText('This invitation is for another email').waitFor();
      return page;
    },
  ],
];

async function invitationLink(api: Api): Promise<string> {
  const owner = await api.anAccount({ firstName: 'Charles', lastName: 'Babbage' });
  const team = await api.aTeam({ owner, name: 'Analytical Engine' });
  const email = `invited-${crypto.randomUUID()}@example.com`;
  const { trpc } = await signedIn(api, owner);
  await trpc.createTeamInvitation.mutate({ teamId: team.id, email, roleId: 'member', isSystemRole: true });
  return linkIn(await api.mailTo(email, /invitation/i));
}
