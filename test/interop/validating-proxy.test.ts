import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { createRoster, type Roster } from '../../clients/typescript/src/index.ts';
import { ALL_SCOPES } from '../rest/operations.ts';
import { startApiAtItsAddress, testWith } from '../support/api.ts';
import { freePort } from '../support/free-port.ts';
import { startProgram, temporaryFolder } from './programs.ts';

const test = testWith(() => startApiAtItsAddress());

// Guarantees that what the client sends and what the service answers is what the document says, by the word of a tool
// that neither of them uses.
test('a validating proxy between the client and the service finds no violation in any operation', async ({ api }) => {
  const { baseUrl } = api.services.config;
  const document = join(temporaryFolder(), 'openapi.json');
  writeFileSync(document, await (await fetch(`${baseUrl}/api/v1/openapi.json`)).text());
  const port = await freePort();
  const prism = startProgram('prism', ['proxy', document, baseUrl, '--port', `${port}`, '--host', '127.0.0.1']);
  await prism.prints(/listening on/);

  const answers: [call: string, violations: string | null][] = [];
  const account = await api.anAccount();
  const roster = createRoster({
    baseUrl: `http://127.0.0.1:${port}`,
    credential: (await api.anApiKey(account, { scopes: [...ALL_SCOPES] })).secret,
    fetch: async (url, init) => {
      const answer = await fetch(url, init);
      answers.push([`${init?.method} ${answer.status}`, answer.headers.get('sl-violations')]);
      return answer;
    },
  });
  const called = new Set<string>();
  const client = new Proxy(roster, { get: (target, name: keyof Roster) => (called.add(name), target[name]) });

  const { id: teamId } = await client.createTeam({ name: 'Engines', description: 'Mills' });
  await client.listTeams();
  await client.getTeam({ teamId });
  await client.updateTeam({ teamId, name: 'Engines & Co' });
  await client.createTeamInvitation({ teamId, email: 'charles@example.com' });
  const [invitation] = await client.listTeamInvitations({ teamId });
  await client.revokeTeamInvitation({ teamId, invitationId: invitation?.id ?? '' });
  const member = await api.anAccount();
  await api.aMember({ id: teamId }, member, { role: 'member' });
  await client.listTeamMembers({ teamId });
  await client.removeTeamMember({ teamId, userId: member.id });
  await client.listTeamRoles({ teamId });
  await client.getTeamBilling({ teamId });
  const { key } = await client.createApiKey({ name: 'CI', scopes: ['teams:read'], teamId });
  await client.listApiKeys({ teamId });
  await client.updateApiKey({ keyId: key.id, scopes: ['members:read'] });
  await client.revokeApiKey({ keyId: key.id });
  await client.getCredential();
  await client.getMe();
  await client.updateMe({ firstName: 'Ada', lastName: 'King' });
  await client.listMySessions();
  await client.revokeMySession({ sessionId: 'ses_x' });
  for (const failing of [client.getTeam({ teamId: 'team_x' }), client.removeTeamMember({ teamId, userId: account.id })])
    await expect(failing).rejects.toMatchObject({ code: expect.any(String) });

  expect(called.size).toBe(20);
  expect(answers).toHaveLength(22);
  expect(answers.filter(([, violations]) => violations !== null)).toEqual([]);
});
