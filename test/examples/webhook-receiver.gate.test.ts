import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished } from 'vitest';
import { test } from '../support/api.ts';
import { signatureHeaders } from '../../src/webhooks/signature.ts';
import { OLDEST_NODE } from './programs.ts';
import { anEndpoint, aReceiver, dispatch, eventually, numberEvents, stateOf } from '../webhooks/receiver.ts';

const RECEIVER = join(import.meta.dirname, '../../examples/webhook-receiver/receiver.mjs');

/** The example in a process of its own. */
async function startReceiver(secret: string) {
  const child = spawn(OLDEST_NODE, [RECEIVER], { env: { ...process.env, WEBHOOK_SECRET: secret, PORT: '0' } });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  await eventually(() => expect(lines[0]).toMatch(/^listening \d+$/));
  return { url: `http://127.0.0.1:${lines[0]?.split(' ')[1]}/`, lines };
}

test('the receiver handles each event once, and refuses what is not signed for it', async ({ api }) => {
  const { trpc, teamId, endpointId, secret } = await anEndpoint(api, (await aReceiver()).url, { types: [] });
  const { url, lines } = await startReceiver(secret);
  await trpc.webhooks.update.mutate({ teamId, endpointId, url, types: ['team.updated'] });
  await trpc.teams.updateDetails.mutate({ teamId, description: 'New' });
  dispatch(api);
  await numberEvents(api);
  const updated = async () => (await stateOf(api, endpointId)).filter(({ event }) => event === 'team.updated');
  await eventually(async () => expect(await updated()).toMatchObject([{ state: 'delivered' }]));

  const { deliveries } = await trpc.webhooks.deliveries.query({ teamId, endpointId });
  const { deliveryId = '' } = deliveries.find(({ type }) => type === 'team.updated') ?? {};
  await trpc.webhooks.replay.mutate({ teamId, endpointId, deliveryId });
  await eventually(async () =>
    expect((await trpc.webhooks.deliveries.query({ teamId, endpointId })).deliveries).toContainEqual(
      expect.objectContaining({ deliveryId, attempts: [expect.anything(), expect.anything()] }),
    ),
  );
  expect(lines.slice(1)).toEqual([`team.updated ${teamId}`]);

  const forged = signatureHeaders([`whsec_${'A'.repeat(43)}=`], 'evt_2', new Date(), '{}');
  expect((await fetch(url, { method: 'POST', headers: forged, body: '{}' })).status).toBe(401);
});
