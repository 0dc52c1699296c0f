import { SCOPES } from '../../../src/entities/index.ts';
import type { Api } from '../../support/api.ts';
import { aPerson, chooseOf } from '../console.ts';
import { LONG_NAME, type Scene } from './scene.ts';

/** The keys of a person, and of a team. */
export const apiKeys: readonly Scene[] = [
  [
    'api-keys',
    async (api, open) => {
      const page = await open('/api-keys', await aHolder(api));
      await page.getByRole('button', { name: 'Actions for Backup' }).waitFor();
      return page;
    },
  ],
  [
    'api-keys-none',
    async (api, open) => {
      const page = await open('/api-keys', await aPerson(api));
      await page.getByText('You have no API keys').waitFor();
      return page;
    },
  ],
  [
    'team-api-keys',
    async (api, open) => {
      const [owner, maker] = [await aPerson(api), await api.anAccount({ firstName: 'Ada', lastName: LONG_NAME })];
      const team = await api.aTeam({ owner, name: LONG_NAME });
      await api.aMember(team, maker);
      await aNamedKey(api, maker, 'Deployment', { team });
      await aNamedKey(api, owner, LONG_NAME, { team, scopes: ['members:read', 'members:write'] });
      const page = await open(`/teams/${team.id}/api-keys`, owner);
      await page.getByRole('button', { name: 'Actions for Deployment' }).waitFor();
      return page;
    },
  ],
  ...(
    [
      ['change-scopes', 'Change scopes of Backup'],
      ['rotate-key', 'Rotate secret of Backup'],
      ['revoke-key', 'Revoke Backup'],
      ['create-key', 'Create key'],
    ] as const
  ).map(([name, action]): Scene => [
    name,
    async (api, open) => {
      const page = await open('/api-keys', await aHolder(api));
      if (name === 'create-key') await page.getByRole('button', { name: action }).click();
      else await chooseOf(page, 'Backup', action);
      await page.getByRole('dialog').getByRole('button').last().waitFor();
      return page;
    },
  ]),
  [
    'key-secret',
    async (api, open) => {
      const page = await open('/api-keys', await aHolder(api));
      await chooseOf(page, 'Backup', 'Rotate secret of Backup');
      await page.getByRole('button', { name: 'Rotate secret', exact: true }).click();
      await page.getByRole('dialog', { name: 'New secret of Backup' }).waitFor();
      return page;
    },
  ],
];

async function aHolder(api: Api) {
  const person = await aPerson(api);
  await aNamedKey(api, person, 'Backup', { scopes: SCOPES });
  await aNamedKey(api, person, LONG_NAME, { expiresAt: new Date('2099-01-31T12:00:00Z') });
  await aNamedKey(api, person, 'Last year’s', { expiresAt: new Date('2020-01-31T12:00:00Z') });
  return person;
}

async function aNamedKey(api: Api, account: { id: string }, name: string, options: Parameters<Api['anApiKey']>[1]) {
  const key = await api.anApiKey(account, options);
  await api.rows('update api_key set name = $2 where id = $1', [key.id, name]);
}
