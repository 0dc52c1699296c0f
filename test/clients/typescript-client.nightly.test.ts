import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect } from 'vitest';
import type * as Client from '../../clients/typescript/src/index.ts';
import { createRosterTrpc } from '../../clients/typescript/src/trpc.ts';
import { describeFace } from '../../src/rest/describe-face.ts';
import { OPERATOR_FACE } from '../../src/rest/operator-face.ts';
import { API_FACE } from '../../src/rest/api-face.ts';
import { apiRouter, operatorRouter } from '../../src/router.ts';
import { OPERATIONS } from '../rest/operations.ts';
import { test, type Api } from '../support/api.ts';
import { numberEvents } from '../webhooks/receiver.ts';
import { installPackedClient } from './packed-client.ts';
import { PATIENCE_MS } from '../support/patience.ts';

type Roster = Client.Roster;

// What `npm pack` gives runs here, as a project resolves it, and not the source.
const dir = mkdtempSync(join(tmpdir(), 'roster-client-'));
await installPackedClient(dir, []);
const entry = createRequire(join(dir, 'package.json')).resolve('@roster/client');
const { createOperator, createRoster, followEvents, listAll, RosterError } = (await import(
  pathToFileURL(entry).href
)) as typeof Client;

afterAll(() => rmSync(dir, { recursive: true, force: true }));

const clientOf = ({ port }: Api, credential: string): Roster =>
  createRoster({ baseUrl: `http://127.0.0.1:${port}`, credential });

type Documented = {
  operationId: string;
  responses: Record<string, { content?: Record<string, { examples?: object }> }>;
};

const codesOf = (responses: Documented['responses']): string[] =>
  Object.values(responses).flatMap(({ content = {} }) =>
    Object.keys(content['application/problem+json']?.examples ?? {}),
  );

/** A completed import of an operator key. @returns its id */
async function anImport(api: Api, operatorKeyId: string, refusals: number): Promise<string> {
  await api.rows(
    `insert into import_run (id, created_at, fingerprint, stage, line, counts, report_bytes, batches, finished_at, operator_key_id, received_at, lines)
     values ('imp_x', now(), 'x', 'account', $2, '{}', 0, 1, now(), $1, now(), $2)`,
    [operatorKeyId, refusals],
  );
  await api.rows(
    `insert into import_refusal select 'imp_x', n, n, 'account', null, 'email_taken', '' from generate_series(1, $1) n`,
    [refusals],
  );
  return 'imp_x';
}

const ALL = [
  'profile:read',
  'profile:write',
  'teams:read',
  'teams:write',
  'members:read',
  'members:write',
  'invites:write',
  'billing:read',
  'api-keys:read',
  'api-keys:write',
] as const;

describe('createRoster of the packed file', () => {
  test('calls all 20 operations', async ({ api }) => {
    const account = await api.anAccount();
    const roster = clientOf(api, (await api.anApiKey(account, { scopes: [...ALL] })).secret);
    const called = new Set<string>();
    const tracked = new Proxy(roster, {
      get: (target, name: keyof Roster) => (called.add(name), target[name]),
    });

    const team = await tracked.createTeam({ name: 'Engines', description: 'Mills' });
    const { id: teamId } = team;
    expect(team).toMatchObject({ name: 'Engines', role: { id: 'owner' } });
    expect((await tracked.listTeams()).map(({ id }) => id)).toContain(teamId);
    expect(await tracked.updateTeam({ teamId, name: 'Engines & Co/?' })).toMatchObject({ name: 'Engines & Co/?' });
    expect(await tracked.getTeam({ teamId })).toMatchObject({ name: 'Engines & Co/?' });
    expect(await tracked.createTeamInvitation({ teamId, email: 'charles@example.com' })).toEqual({ success: true });
    const [invitation] = await tracked.listTeamInvitations({ teamId });
    expect(invitation).toMatchObject({ email: 'charles@example.com', roleId: 'member' });
    await tracked.revokeTeamInvitation({ teamId, invitationId: invitation?.id ?? '' });
    const member = await api.anAccount();
    await api.aMember({ id: teamId }, member, { role: 'member' });
    expect((await tracked.listTeamMembers({ teamId })).map(({ userId }) => userId)).toContain(member.id);
    await tracked.removeTeamMember({ teamId, userId: member.id });
    expect((await tracked.listTeamRoles({ teamId })).map(({ roleId }) => roleId)).toContain('guest');
    expect(await tracked.getTeamBilling({ teamId })).toMatchObject({ cancelAtPeriodEnd: false });
    const { key, secret } = await tracked.createApiKey({ name: 'CI', scopes: ['teams:read'], teamId });
    expect(await clientOf(api, secret).listTeams()).toHaveLength(1);
    expect((await tracked.listApiKeys({ teamId })).map(({ id }) => id)).toEqual([key.id]);
    expect(await tracked.updateApiKey({ keyId: key.id, scopes: ['members:read'] })).toMatchObject({
      scopes: ['members:read'],
    });
    expect(await tracked.revokeApiKey({ keyId: key.id })).toEqual({ success: true });
    expect(await tracked.getCredential()).toMatchObject({ kind: 'api-key', audience: 'personal' });
    expect(await tracked.getMe()).toMatchObject({ id: account.id });
    expect(await tracked.updateMe({ firstName: 'Ada', lastName: 'King' })).toMatchObject({ lastName: 'King' });
    expect(await tracked.listMySessions()).toEqual([]);
    expect(await tracked.revokeMySession({ sessionId: 'ses_x' })).toEqual({ success: true });

    expect([...called].toSorted()).toEqual(Object.keys(roster).toSorted());
    expect(called.size).toBe(20);
  });

  test('every operation rejects with the code, status and request id of the problem', async ({ api }) => {
    const roster = clientOf(api, `rst_pk_${'0'.repeat(49)}`);
    const input = { teamId: 't', userId: 'u', sessionId: 's', invitationId: 'i', keyId: 'k' };
    for (const [name, call] of Object.entries(roster) as [string, (input: object) => Promise<unknown>][]) {
      const error = await call(input).catch((reason: unknown) => reason);
      expect([name, error]).toEqual([name, expect.any(RosterError)]);
      expect(error).toMatchObject({ code: 'credential_invalid', status: 401, requestId: expect.any(String) });
    }
  });

  test('every operation rejects with the codes that the document lists for it', async ({ api }) => {
    const [owner, guest] = [await api.anAccount(), await api.anAccount()];
    const team = await api.aTeam({ owner });
    await api.aMember(team, guest, { role: 'guest' });
    const all = (await api.anApiKey(owner, { scopes: [...ALL] })).secret;
    const ofGuest = (await api.anApiKey(guest, { scopes: [...ALL] })).secret;
    const ofTeam = (await api.anApiKey(owner, { scopes: [...ALL], team })).secret;
    const { paths = {} } = describeFace(API_FACE, apiRouter, 'https://x.test').document;
    const listed = new Map(
      Object.values(paths)
        .flatMap((item) => Object.values(item) as Documented[])
        .map(({ operationId, responses }) => [operationId, codesOf(responses)]),
    );
    for (const { id, path, scope, accountLevel, permission, body } of OPERATIONS) {
      const codeOf = async (credential: string, input: object) => {
        const roster = clientOf(api, credential) as unknown as Record<string, (input: object) => Promise<unknown>>;
        const error = await roster[id]?.({
          userId: 'u',
          sessionId: 's',
          invitationId: 'i',
          keyId: 'k',
          ...input,
        }).catch((reason: unknown) => reason);
        return error instanceof RosterError ? error.code : 'none';
      };
      const valid = { teamId: team.id, ...body };
      const lacking = (
        await api.anApiKey(owner, { scopes: [scope === 'billing:read' ? 'teams:read' : 'billing:read'] })
      ).secret;
      const codes = {
        ...(scope !== null && { scope_missing: await codeOf(lacking, valid) }),
        ...(accountLevel && { team_credential_refused: await codeOf(ofTeam, valid) }),
        ...(permission !== null && { permission_missing: await codeOf(ofGuest, valid) }),
        ...(path.includes('{teamId}') && { team_not_found: await codeOf(all, { ...valid, teamId: 'team_x' }) }),
        ...(body && { validation_failed: await codeOf(all, { teamId: team.id }) }),
        ...(/\{(user|invitation|key)Id\}/.test(path) &&
          id !== 'revokeApiKey' && {
            [`${/\{keyId/.test(path) ? 'api_key' : /\{userId/.test(path) ? 'member' : 'invitation'}_not_found`]:
              await codeOf(all, valid),
          }),
      };
      expect([id, Object.entries(codes).filter(([expected, code]) => code !== expected)]).toEqual([id, []]);
      expect([id, Object.keys(codes).filter((code) => !listed.get(id)?.includes(code))]).toEqual([id, []]);
    }
  });

  test('a validation error lists the invalid values', async ({ api }) => {
    const roster = clientOf(api, (await api.anApiKey(await api.anAccount(), { scopes: ['teams:write'] })).secret);
    await expect(roster.createTeam({ name: '' })).rejects.toMatchObject({
      code: 'validation_failed',
      errors: [{ in: 'body', pointer: '/name', code: 'min_length' }],
    });
  });

  test('an address or credential that is not set is named when the client is created', () => {
    const options = { baseUrl: 'http://service.test', credential: 'x' };
    for (const wrong of [{ baseUrl: undefined }, { baseUrl: '' }, { baseUrl: 'localhost:3000' }])
      expect(() => createRoster({ ...options, ...(wrong as object) })).toThrow('baseUrl');
    for (const wrong of [{ credential: undefined }, { credential: '' }])
      expect(() => createRoster({ ...options, ...(wrong as object) })).toThrow('credential');
  });

  test('a credential that no request can carry is reported at once, and sent nowhere', async () => {
    const wrong = ['rst_pk_Ключ', 'rst_pk_\u2028', 'two\nlines', 'ünlaut'];
    let sent = 0;
    const options = {
      baseUrl: 'http://service.test',
      fetch: () => Promise.reject(new TypeError(`connection ${(sent += 1)}`)),
    };
    for (const credential of wrong) {
      expect(() => createRoster({ ...options, credential })).toThrow('The credential is invalid');
      await expect(createRoster({ ...options, credential: () => credential }).listTeams()).rejects.toThrow(
        'The credential is invalid',
      );
      expect(() => createOperator({ ...options, operatorKey: credential })).toThrow('The credential is invalid');
      const trpc = createRosterTrpc({ ...options, credential });
      await expect(trpc.listTeams.query()).rejects.toThrow('The credential is invalid');
    }
    expect(() => createRoster({ ...options, credential: 'of a file\n' })).not.toThrow();
    const unset = createRoster({ ...options, credential: () => undefined as unknown as string });
    await expect(unset.listTeams()).rejects.toThrow('The credential is missing');
    expect(sent).toBe(0);
  });

  test('an id is one segment of the path, whatever it contains', async ({ api }) => {
    const roster = clientOf(api, (await api.anApiKey(await api.anAccount(), { scopes: [...ALL] })).secret);
    await expect(roster.getTeam({ teamId: '../me?x=/#' })).rejects.toMatchObject({ code: 'team_not_found' });
    for (const teamId of ['', '.', '..']) await expect(roster.getTeam({ teamId })).rejects.toThrow(TypeError);
    await expect(roster.getTeam({ teamId: '%2e%2e' })).rejects.toMatchObject({ code: 'team_not_found' });
  });
});

describe('createOperator', () => {
  test('calls the operator API, and follows the events of all teams from a stored cursor', async ({ api }) => {
    const { secret } = await api.anOperatorKey();
    const operator = createOperator({ baseUrl: `http://127.0.0.1:${api.port}`, operatorKey: secret });
    expect(await operator.listOperatorKeys()).toEqual(expect.anything());
    await expect(operator.revokeOperatorKey({ keyId: 'opk_x' })).rejects.toMatchObject({ status: 404 });

    const roster = clientOf(api, (await api.anApiKey(await api.anAccount(), { scopes: ['teams:write'] })).secret);
    const created = [await roster.createTeam({ name: 'Engines' }), await roster.createTeam({ name: 'Mills' })];
    await numberEvents(api);
    const seen = [];
    let cursor: string | undefined;
    for (let stops = 0; stops < 20; stops += 1)
      for await (const page of followEvents((input, options) => operator.listEvents({ ...input, limit: 1 }, options), {
        after: cursor,
        wait: 0,
      })) {
        seen.push(...page.events);
        cursor = page.cursor;
        break; // as a consumer that is stopped after each page
      }
    const teams = seen.filter(({ type }) => type === 'team.created').map(({ teamId }) => teamId);
    expect(teams.slice(-2)).toEqual(created.map(({ id }) => id));
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
  });

  // Guarantees what docs/events.md says of a copy that begins with a snapshot.
  test('follows the feed of one team, with `now` from the events that come then', async ({ api }) => {
    const owner = await api.anAccount();
    const [team, other] = [await api.aTeam({ owner }), await api.aTeam({ owner })];
    const { secret } = await api.anApiKey(owner, { scopes: ['teams:read', 'teams:write'] });
    const trpc = createRosterTrpc({ baseUrl: `http://127.0.0.1:${api.port}`, credential: secret });
    const rename = async (name: string) => {
      for (const { id } of [other, team]) await trpc.updateTeam.mutate({ teamId: id, name });
      await numberEvents(api);
    };
    const read = async (after?: string) => {
      const pages = [];
      for await (const page of followEvents(
        (input, call) => trpc.events.list.query({ teamId: team.id, ...input }, call),
        {
          after,
          wait: 0,
        },
      ))
        pages.push(page);
      return pages.flatMap(({ events }) => events.map(({ type, teamId }) => `${type} ${teamId}`));
    };
    const renamed = `team.renamed ${team.id}`;
    await rename('Before');
    const { cursor } = await trpc.events.list.query({ teamId: team.id, after: 'now' });
    expect(await read('now')).toEqual([]);

    await rename('After');

    expect(await read('now')).toEqual([]);
    expect(await read(cursor)).toEqual([renamed]);
    expect((await read()).filter((event) => event === renamed)).toEqual([renamed, renamed]);

    const stopping = new AbortController();
    const waiting = followEvents(
      async (input, call) => {
        const page = trpc.events.list.query({ teamId: team.id, ...input }, call);
        if (input.after !== 'now') await rename('Meanwhile'); // once its first call has answered the cursor
        return page;
      },
      { after: 'now', wait: 1, signal: stopping.signal },
    );
    const { value } = await waiting.next();
    stopping.abort();
    expect(value?.events).toMatchObject([
      { type: 'team.renamed', teamId: team.id, data: { team: { name: 'Meanwhile' } } },
    ]);
  });

  // Guarantees that no list of the document with pages is left out here.
  test('iterates over all pages of every list that has pages, and reads no page before it is asked for', async ({
    api,
  }) => {
    const paged = Object.values(describeFace(OPERATOR_FACE, operatorRouter, 'https://x.test').document.paths ?? {})
      .flatMap((item) => Object.values(item) as { operationId: string; parameters?: { name: string }[] }[])
      .filter(({ parameters = [] }) => parameters.some(({ name }) => name === 'cursor' || name === 'after'))
      .map(({ operationId }) => operationId);
    const operatorKey = await api.anOperatorKey();
    const operator = createOperator({ baseUrl: `http://127.0.0.1:${api.port}`, operatorKey: operatorKey.secret });
    const owner = await api.anAccount();
    const team = await api.aTeam({ owner });
    const others = [await api.anAccount(), await api.anAccount()];
    for (const account of others) await api.aMember(team, account, { role: 'member' });
    await api.aTeam({ owner });
    await api.aTeam({ owner });
    const { endpoint } = await operator.createWebhookEndpoint({ url: 'https://receiver.example.com/' });
    const endpointId = endpoint.endpointId;
    for (let n = 0; n < 3; n += 1) await operator.testWebhookEndpoint({ endpointId });
    const importId = await anImport(api, operatorKey.id, 3);
    for (let n = 0; n < 3; n += 1) {
      await api.anApiKey(owner);
      await api.anApiKey(owner, { team });
    }

    let calls = 0;
    const page = { limit: 1 };
    const read = <Result>(result: Promise<Result>) => ((calls += 1), result);
    const lists = {
      listAccounts: listAll((position, call) => read(operator.listAccounts({ ...page, ...position }, call))),
      listTeams: listAll((position, call) => read(operator.listTeams({ ...page, ...position }, call))),
      listMembers: listAll((position, call) =>
        read(operator.listMembers({ ...page, teamId: team.id, ...position }, call)),
      ),
      listAccountApiKeys: listAll((position, call) =>
        read(operator.listAccountApiKeys({ ...page, accountId: owner.id, ...position }, call)),
      ),
      listTeamApiKeys: listAll((position, call) =>
        read(operator.listTeamApiKeys({ ...page, teamId: team.id, ...position }, call)),
      ),
      listWebhookDeliveries: listAll((position, call) =>
        read(operator.listWebhookDeliveries({ ...page, endpointId, ...position }, call)),
      ),
      getImport: listAll((position, call) => read(operator.getImport({ ...page, importId, ...position }, call))),
    };
    expect([...Object.keys(lists), 'listEvents'].toSorted()).toEqual(paged.toSorted()); // listEvents: followEvents
    for (const [name, list] of Object.entries(lists)) {
      calls = 0;
      const seen = new Set<string>();
      for await (const entry of list) {
        seen.add(JSON.stringify(entry));
        expect([name, calls]).toEqual([name, seen.size]);
      }
      expect([name, seen.size]).toEqual([name, expect.toSatisfy((size: number) => size >= 3)]);
    }
    const members = listAll((position, call) => operator.listMembers({ teamId: team.id, ...position }, call));
    const ids = new Set<string>();
    for await (const { accountId } of members) ids.add(accountId);
    expect(ids).toEqual(new Set([owner.id, ...others.map(({ id }) => id)]));
    const stopped = listAll((position) => operator.listTeams(position), { signal: AbortSignal.abort() });
    await expect(stopped.next()).rejects.toMatchObject({ name: 'AbortError' });
  });

  describe('createImport', () => {
    const line = (n: number) =>
      `${JSON.stringify({ type: 'account', externalId: `u${n}`, email: `u${n}@example.com` })}\n`;
    const text = line(1) + line(2) + line(3);
    const anImporter = async (api: Api, fetchOnce: typeof fetch = fetch) => {
      const key = await api.anOperatorKey({ scopes: ['accounts:write', 'teams:write', 'billing:write'] });
      const baseUrl = `http://127.0.0.1:${api.port}`;
      return createOperator({ baseUrl, operatorKey: key.secret, fetch: fetchOnce });
    };
    const streamOf = (lines: number, onLine?: (n: number) => void) => {
      let n = 0;
      return new ReadableStream<Uint8Array>({
        pull(controller) {
          if ((n += 1) > lines) return controller.close();
          onLine?.(n);
          controller.enqueue(new TextEncoder().encode(line(n)));
        },
      });
    };

    test.for<[string, () => Client.Rows]>([
      ['a string', () => text],
      ['bytes', () => new TextEncoder().encode(text)],
      ['a Blob', () => new Blob([text])],
      ['a stream', () => streamOf(3)],
      ['a function', () => () => streamOf(3)],
    ])('uploads rows of %s', async ([, rows], { api }) => {
      const operator = await anImporter(api);
      const queued = await operator.createImport({ dryRun: true, rows: rows() });
      expect(queued).toMatchObject({ status: 'queued', isDryRun: true, lines: 3 });
      const read = await operator.getImport({ importId: queued.id });
      expect(read).toMatchObject({ id: queued.id, lines: 3, refusals: [] });
      await expect(operator.createImport({ rows: text })).rejects.toMatchObject({
        code: 'import_running',
        status: 409,
      });
    });

    test('sends a stream as it comes, and reads no further once the call is cancelled', async ({ api }) => {
      const operator = await anImporter(api);
      const controller = new AbortController();
      let read = 0;
      const rows = streamOf(1e9, (n) => {
        read = n;
        if (n === 20_000) controller.abort(new Error('stopped'));
      });
      await expect(operator.createImport({ rows }, { signal: controller.signal })).rejects.toThrow('stopped');
      expect(read).toBeLessThan(1e6);
      await expect
        .poll(
          () =>
            operator.createImport({ rows: text }).then(
              ({ lines }) => lines,
              () => 0,
            ),
          { timeout: PATIENCE_MS },
        )
        .toBe(3);
    });

    test('after a lost connection it is sent again from the beginning, unless it is a stream', async ({ api }) => {
      let calls = 0;
      const lossy: typeof fetch = async (url, init) => {
        calls += 1;
        if (calls === 1) throw new TypeError('connection lost');
        return fetch(url, init);
      };
      const operator = await anImporter(api, lossy);
      expect(await operator.createImport({ rows: () => streamOf(3) })).toMatchObject({ lines: 3 });
      expect(calls).toBe(2);
      calls = 0;
      await expect(operator.createImport({ rows: streamOf(3) })).rejects.toThrow('connection lost');
      expect(calls).toBe(1);
    });

    test('an upload that is refused rejects with the problem, also in the middle of a stream', async ({ api }) => {
      const { secret } = await api.anOperatorKey({ scopes: ['teams:read'] });
      const operator = createOperator({ baseUrl: `http://127.0.0.1:${api.port}`, operatorKey: secret });
      await expect(operator.createImport({ rows: streamOf(50_000) })).rejects.toMatchObject({ code: 'scope_missing' });
      const importer = await anImporter(api);
      const long = new Uint8Array(1024 * 1024).fill(32);
      const tooLong = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(long) });
      await expect(importer.createImport({ rows: tooLong })).rejects.toMatchObject({ code: 'body_too_large' });
    });
  });

  test('an expired cursor names the oldest one that works', async () => {
    const problem = { code: 'cursor_expired', oldestCursor: 'c1' };
    const operator = createOperator({
      baseUrl: 'http://service.test',
      operatorKey: 'x',
      fetch: () => Promise.resolve(Response.json(problem, { status: 410 })),
    });
    await expect(operator.listEvents({ after: 'c0' })).rejects.toMatchObject(problem);
  });

  test('a feed that waits ends with its signal', async ({ api }) => {
    const operator = createOperator({
      baseUrl: `http://127.0.0.1:${api.port}`,
      operatorKey: (await api.anOperatorKey()).secret,
    });
    const controller = new AbortController();
    const pages = followEvents(
      (input, options) => {
        if (input.after !== undefined) queueMicrotask(() => controller.abort(new Error('stopped')));
        return operator.listEvents(input, options);
      },
      { signal: controller.signal },
    );
    await expect(
      (async () => {
        for await (const { events } of pages) expect(events.length).toBeGreaterThan(0);
      })(),
    ).rejects.toThrow('stopped');
  });
});
