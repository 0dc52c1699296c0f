import { describe, expect, test } from 'vitest';
import { STAGES } from '../../src/resources/imports/rows.ts';
import { appRouter } from '../../src/router.ts';
import { testWith, startApi } from '../support/api.ts';
import { readTables } from './copy.ts';
import { STEPS } from './journey.ts';
import { aScene, MUTATIONS } from './mutations.ts';

const withApi = testWith(() => startApi());

/** The mutations that change none of the tables that a copy has, by what they change instead. */
const UNCHANGED: Readonly<Record<string, string>> = {
  'sign-ups, sessions, passwords and links': `auth.resendVerification auth.readVerification auth.signIn
    auth.signOut auth.emailSignInLink auth.readSignInLink auth.forgotPassword auth.checkLink account.prove
    account.changePassword account.changeEmail revokeMySession sessions.revokeOthers operator.sendLink
    operator.endSessions`,
  'offers of ownership': 'teams.offerOwnership teams.withdrawOwnershipOffer teams.declineOwnership',
  links: 'invitations.read',
  passkeys: `passkeys.registrationOptions passkeys.register passkeys.rename passkeys.remove passkeys.proofOptions
    passkeys.prove passkeys.signInOptions passkeys.signIn`,
  'keys, clients and grants': `createApiKey updateApiKey revokeApiKey apiKeys.rename apiKeys.rotate apiKeys.revokeInTeam
    apiKeys.create apiKeys.setPermissions oauthClients.create oauthClients.update oauthClients.rotateSecret oauthClients.delete grants.narrow grants.revoke
    authorizations.approve authorizations.continue authorizations.deny auth.revokeRemainingAccess operator.revokeKey
    operator.createOperatorKey operator.rotateOperatorKey operator.revokeOperatorKey operatorApi.verifyCredential
    operatorApi.createApiKey operatorApi.updateApiKey operatorApi.revokeApiKey
    operatorApi.createClient operatorApi.updateClient operatorApi.rotateClientSecret operatorApi.deleteClient`,
  webhooks: `webhooks.create webhooks.update webhooks.pause webhooks.resume webhooks.rotateSecret webhooks.delete
    webhooks.sendTest webhooks.replay webhooks.replayFailed operatorApi.createWebhookEndpoint
    operatorApi.updateWebhookEndpoint operatorApi.deleteWebhookEndpoint operatorApi.pauseWebhookEndpoint
    operatorApi.resumeWebhookEndpoint operatorApi.rotateWebhookSecret operatorApi.testWebhookEndpoint
    operatorApi.replayWebhookDelivery operatorApi.replayFailedWebhooks`,
  'templates, which only new teams copy': 'operator.updateRoleTemplate operator.deleteRoleTemplate',
  'subscriptions, jobs and imports': 'operator.setSubscription operator.retryJobs operatorApi.cancelImport',
};

/** The operator's area of the console has the procedures of the operator API. */
const inOperatorApi = (name: string): string => name.replace(/^operator\./, 'operatorApi.');

const namesOf = (list: string): string[] => list.split(/\s+/);
const unchanged = new Set(Object.values(UNCHANGED).flatMap(namesOf).map(inOperatorApi));
const mutations = new Set(
  Object.entries(appRouter._def.procedures)
    .filter(([, procedure]) => (procedure as { _def: { type: string } })._def.type === 'mutation') // the type of tRPC is nested
    .map(([name]) => inOperatorApi(name)),
);
const stepsOf = new Set(Object.keys(STEPS).map((step) => step.split(':')[0] ?? ''));

// Guarantees that the journeys of `copies.test.ts` make every change that a copy has to follow.
describe('the journeys of a copy', () => {
  test('have a step for every mutation, unless it changes none of the tables', () => {
    expect(mutations.size).toBeGreaterThan(90);
    expect([...mutations].filter((name) => !stepsOf.has(name) && !unchanged.has(name))).toEqual([]);
    expect([...unchanged].filter((name) => !mutations.has(name))).toEqual([]);
    const known = new Set([...mutations, 'command', 'picture']);
    expect([...stepsOf].filter((name) => !known.has(name))).toEqual([]);
  });

  test('import every kind of row, but keys', () => {
    const [step = ''] = Object.keys(STEPS).filter((name) => name.startsWith('operatorApi.createImport'));
    const [, kinds = ''] = step.split(': ');
    expect([...kinds.split(', '), 'apiKey']).toEqual([...STAGES]);
  });
});

const CLAIMED = MUTATIONS.filter(([name]) => unchanged.has(inOperatorApi(name)) && !stepsOf.has(inOperatorApi(name)));

withApi.for(CLAIMED)('%s changes none of the tables', async ([, , prepare], { api }) => {
  const scene = await aScene(api);
  const { visitor = scene.owner.visitor, call } = await prepare(scene);
  const before = await readTables(api);

  await call(visitor.trpc);

  expect(await readTables(api)).toEqual(before);
});
