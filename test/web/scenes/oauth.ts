import { SCOPES } from '../../../src/entities/index.ts';
import { signedIn } from '../../support/browser.ts';
import { aPerson, authorizePath, chooseOf } from '../console.ts';
import { LONG_NAME, shown, type Scene } from './scene.ts';

/** Applications, for those who make them and those who let them in. */
export const applications: readonly Scene[] = [
  [
    'developer',
    async (api, open) => {
      const person = await aPerson(api);
      await api.anOAuthClient({ name: 'Planner', owner: person, native: true, redirectUri: 'com.example.planner:/' });
      const { id } = await api.anOAuthClient({ name: LONG_NAME, owner: person, confidential: true });
      const { trpc } = await signedIn(api, person);
      await trpc.oauthClients.rotateSecret.mutate({ clientId: id, overlapHours: 24 });
      const page = await open('/developer', person);
      await page.getByRole('button', { name: 'Actions for Planner' }).waitFor();
      return page;
    },
  ],
  [
    'register-client',
    async (api, open) => {
      const page = await open('/developer', await aPerson(api));
      await page.getByRole('button', { name: 'Register application' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill('Planner');
      await page.getByLabel('Redirect URIs').fill('http://planner.example/callback');
      await page.getByRole('button', { name: 'Register', exact: true }).click();
      await page.getByText('can use http only with').waitFor();
      return page;
    },
  ],
  [
    'client-secret',
    async (api, open) => {
      const person = await aPerson(api);
      await api.anOAuthClient({ name: 'Planner', owner: person, confidential: true });
      const page = await open('/developer', person);
      await chooseOf(page, 'Planner', 'Rotate secret of Planner');
      await page.getByRole('button', { name: 'Rotate secret', exact: true }).click();
      await page.getByRole('dialog', { name: 'New client secret' }).waitFor();
      return page;
    },
  ],
  [
    'consent',
    async (api, open) => {
      const client = await api.anOAuthClient({ name: 'Planner', owner: await api.anAccount() });
      const page = await open(authorizePath(client, SCOPES), await aPerson(api));
      return shown(page, '“Planner” asks for access');
    },
  ],
  [
    'consent-for-a-team',
    async (api, open) => {
      const person = await aPerson(api);
      await api.aTeam({ owner: person, name: LONG_NAME });
      await api.aTeam({ owner: person, name: 'Analytical Engine' });
      const client = await api.anOAuthClient({ name: 'Planner' });
      const page = await shown(await open(authorizePath(client, SCOPES), person), '“Planner” asks for access');
      await page.getByLabel('Only one team').check();
      await page.getByLabel('Team', { exact: true }).waitFor();
      return page;
    },
  ],
];
