import { describe, expect } from 'vitest';
import { numberEvents } from '../../src/events/chain/append.ts';
import { exportEvents } from '../../src/resources/audit-log/export.ts';
import { call, post as postMcp } from '../mcp/post.ts';
import { ALL_SCOPES } from '../rest/operations.ts';
import { startApi, testWith, type Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { allMailed, aPerson } from '../trpc/people.ts';
import { OWN_ID, type EventRow } from './events.ts';
import { requestsOf, type Answered } from './requests.ts';

const test = testWith(() => startApi({ OAUTH_REGISTRATION: 'on' }));

const headerOf = ({ headers }: Answered): unknown =>
  headers instanceof Headers ? headers.get('x-request-id') : headers['x-request-id'];

async function allRecorded(api: Api): Promise<EventRow[]> {
  await allMailed(api);
  await Promise.all([api.denials.flush(), api.operatorReads.flush()]);
  return api.rows<EventRow>('select * from audit_event order by id');
}

describe('the audit log', () => {
  // Guarantees that no client chooses the id by which a request is found, and none loses its own.
  test('has an id of its own for each request of whatever kind, and the client’s beside it', async ({ api }) => {
    const requests = await requestsOf(api);
    const known = new Set((await allRecorded(api)).map(({ id }) => id));
    const own = new Map<string, string>();
    let sent = 'x'.repeat(128);
    for (const [name, request] of Object.entries(requests)) {
      const answer = await request({ 'x-request-id': sent });
      expect(headerOf(answer), name).toBe(sent);
      const rows = (await allRecorded(api)).filter(({ id }) => !known.has(id));
      const ids = new Set(rows.map(({ request_id }) => request_id ?? ''));
      expect([...ids], name).toEqual([expect.stringMatching(OWN_ID)]);
      const [id = ''] = ids;
      expect(own.get(id), `${name} has the id of another request`).toBeUndefined();
      for (const { event, details } of rows) expect(details['clientRequestId'], `${event} of ${name}`).toBe(sent);
      const logged = () => api.lines.filter(({ msg, requestId }) => msg === 'request' && requestId === id);
      await expect.poll(logged, { interval: 5, message: name }).toMatchObject([{ clientRequestId: sent }]);
      own.set(id, name);
      for (const row of rows) known.add(row.id);
      // Every other one is sent the service's own id of the request before, the others one that they share.
      sent = OWN_ID.test(sent) ? 'x'.repeat(128) : id;
    }
    expect(own.size).toBe(Object.keys(requests).length);
  });

  test('is read with both ids, in the console, by tools, in feeds and exports', async ({ api }) => {
    const owner = await aPerson(api);
    const operator = await api.anAccount();
    await api.rows(`update account set role = 'admin' where id = $1`, [operator.id]);
    const team = await api.aTeam({ owner });
    const key = await api.anApiKey(owner, { scopes: ALL_SCOPES });
    const clientRequestId = 'order-1842';
    const headers = { 'x-request-id': clientRequestId, 'content-type': 'application/json' };
    const change = (path: string, body: object) =>
      api.as(key).send({ method: 'PATCH', path, headers, body: JSON.stringify(body) });
    await change(`/api/v1/teams/${team.id}`, { name: 'Kites' });
    await change('/api/v1/me', { firstName: 'Augusta', lastName: 'King' });
    const [ofTeam, ofAccount] = (await allRecorded(api)).filter(
      ({ details }) => details['clientRequestId'] === clientRequestId,
    );
    expect([ofTeam?.request_id, ofAccount?.request_id]).toEqual(Array(2).fill(expect.stringMatching(OWN_ID)));
    await numberEvents(api.services, { info: () => undefined, warn: () => undefined, error: () => undefined });

    const { trpc } = await signedIn(api, owner);
    const asOperator = (await signedIn(api, operator)).trpc;
    let exported = '';
    for await (const part of exportEvents(api.services.db, 'ndjson', { teamId: team.id })) exported += part;
    const lines = exported
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    const toolAnswer = await postMcp(api, call('listTeamAuditLog', { teamId: team.id }), {
      authorization: `Bearer ${key.secret}`,
    });
    const ofTool = await toolAnswer.text();
    const { body: feed } = await api.as(await api.anOperatorKey()).get('/operator/v1/events?limit=100');
    const ofKind = (recorded: EventRow | undefined) => ({ requestId: recorded?.request_id, clientRequestId });
    const shown: readonly (readonly [by: string, events: readonly object[], recorded: EventRow | undefined])[] = [
      ['audit.list', (await trpc.audit.list.query({ teamId: team.id })).events, ofTeam],
      ['account.activity', (await trpc.account.activity.query({})).events, ofAccount],
      ['operator.audit', (await asOperator.operator.audit.query({})).events, ofTeam],
      ['events.list', (await trpc.events.list.query({ teamId: team.id })).events, ofTeam],
      ['events.listMine', (await trpc.events.listMine.query({})).events, ofAccount],
      ['the operator’s feed', feed.events, ofTeam],
      [
        'the export',
        lines.map(({ request_id: requestId, client_request_id: client, ...line }) => ({
          ...line,
          requestId,
          clientRequestId: client,
        })),
        ofTeam,
      ],
    ];
    for (const [by, events, recorded] of shown) {
      const event = events.find((one) => (one as { id: string }).id === recorded?.id);
      expect(event, by).toMatchObject({
        ...ofKind(recorded),
        ...('details' in (event ?? {}) && { details: expect.not.objectContaining({ clientRequestId }) }),
      });
    }
    expect(ofTool).toContain(ofTeam?.request_id);
    expect(ofTool).toContain(clientRequestId);
  });

  test.for(['', 'x'.repeat(129), 'a b', '{}', '\u00e9', 'a,b'])(
    'keeps nothing of %.20s, which is no id',
    async (sent, { api }) => {
      const key = await api.anApiKey(await api.anAccount(), { scopes: ALL_SCOPES });
      await api.as(key).send({
        method: 'POST',
        path: '/api/v1/teams',
        headers: { 'x-request-id': sent, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'Kites' }),
      });
      const rows = await api.rows<EventRow>('select * from audit_event where credential_id = $1', [key.id]);
      expect(rows).toHaveLength(2);
      for (const row of rows) {
        expect(row.request_id).toMatch(OWN_ID);
        expect(row.details).not.toHaveProperty('clientRequestId');
      }
    },
  );
});
