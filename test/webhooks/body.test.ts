import { describe, expect } from 'vitest';
import { deleteAccount } from '../../src/resources/accounts/deletion.service.ts';
import { startApi, testWith } from '../support/api.ts';
import { anEndpoint, aReceiver, dispatch, eventually, numberEvents } from './receiver.ts';

const test = testWith(() => startApi());

describe('the body of a webhook', () => {
  test('shows the resource as the feed does, and not a secret', async ({ api }) => {
    const receiver = await aReceiver();
    const { trpc, teamId } = await anEndpoint(api, receiver.url);
    dispatch(api);
    const { invitation } = await trpc.invitations.create.mutate({ teamId, email: 'ida@example.com' });
    const { secret } = await trpc.createApiKey.mutate({ name: 'A key', scopes: ['teams:read'], teamId });
    await numberEvents(api);
    const bodyOf = (type: string) => receiver.received.find(({ json }) => json.type === type);
    await eventually(() => expect(bodyOf('api_key.created')).toBeDefined());
    await eventually(() => expect(bodyOf('invitation.created')).toBeDefined());

    const { events } = await trpc.events.list.query({ teamId, types: ['invitation.created', 'api_key.created'] });
    for (const event of events) expect(bodyOf(event.type)?.json).toEqual({ ...event, timestamp: event.occurredAt });
    expect(bodyOf('invitation.created')?.json.data).toMatchObject({
      invitation: { id: invitation.id, email: 'ida@example.com' },
    });
    expect(bodyOf('api_key.created')?.json.data).toMatchObject({ apiKey: { name: 'A key' } });
    expect(bodyOf('api_key.created')?.body).not.toContain(secret.slice(12));
  });

  test('has no data of an account that was deleted before it was sent', async ({ api }) => {
    const receiver = await aReceiver();
    const { trpc, team, teamId, endpointId } = await anEndpoint(api, receiver.url);
    await trpc.webhooks.pause.mutate({ teamId, endpointId });
    const member = await api.anAccount();
    await api.aMember(team, member);
    await trpc.members.deactivate.mutate({ teamId, userId: member.id });
    dispatch(api);
    await numberEvents(api);
    await deleteAccount(api.services.db, 'system', member.id);
    await numberEvents(api);
    await trpc.webhooks.resume.mutate({ teamId, endpointId });
    await numberEvents(api);
    const find = () => receiver.received.find(({ json }) => json.type === 'member.deactivated');
    await eventually(() => expect(find()).toBeDefined());

    expect(find()?.json).toMatchObject({ teamId, accountId: member.id, data: null });
    expect(receiver.received.filter(({ body }) => body.includes(member.email))).toEqual([]);
  });
});
