import sharp from 'sharp';
import { describe, expect } from 'vitest';
import { createServer } from 'node:http';
import { test, type Api } from '../support/api.ts';
import { aService } from '../trpc/people.ts';
import { aBomb, aPhotograph, BLUE, colorAt, halves, RED, SVG } from './files.ts';
import { read, sender } from './sender.ts';

const MAX = 2 * 1024 * 1024;

const rowsOf = (api: Api, owner: { id: string }) =>
  api.rows<{ name: string }>('select name from picture where $1 in (account_id, team_id)', [owner.id]);
const avatarOf = async (api: Api, account: { id: string }) =>
  (await api.rows<{ avatar: string | null }>('select avatar from account where id = $1', [account.id]))[0]?.avatar;

describe('a picture that is set', () => {
  test('is resized, stripped of its metadata and turned as its EXIF asks, and kept as WebP', async ({ api }) => {
    const account = await api.anAccount();
    const photograph = await aPhotograph();
    expect(photograph.includes('CAMERA-SECRET')).toBe(true);

    const set = await (await sender(api, account)).own(photograph, 'image/jpeg');

    expect(set.status, set.text).toBe(200);
    const { bytes } = await read(api, set.body.url);
    const metadata = await sharp(bytes).metadata();
    expect(metadata).toMatchObject({ format: 'webp', width: 256, height: 256 });
    expect([metadata.exif, metadata.icc, metadata.xmp, metadata.orientation]).toEqual(Array(4).fill(undefined));
    expect(bytes.includes('CAMERA-SECRET')).toBe(false);
    // Turned to the right: what was left is on top.
    expect(near(await colorAt(bytes, 0.5, 0.1), RED)).toBe(true);
    expect(near(await colorAt(bytes, 0.5, 0.9), BLUE)).toBe(true);
  });

  test.for(['jpeg', 'png', 'webp'] as const)('can be a %s', async (format, { api }) => {
    const account = await api.anAccount();
    const set = await (await sender(api, account)).own(await (await halves())[format]().toBuffer(), `image/${format}`);
    expect(set.status, set.text).toBe(200);
    expect(await avatarOf(api, account)).toBe(set.body.url);
  });

  test('is served to anyone, forever, under a name of its content, as a picture and nothing else', async ({ api }) => {
    const account = await api.anAccount();
    const caller = await sender(api, account);
    const first = await caller.own(await (await halves()).png().toBuffer());
    const same = await caller.own(await (await halves()).png().toBuffer());
    expect(same.body.url).toBe(first.body.url);
    expect(first.body.url).toMatch(new RegExp(`^${api.services.config.baseUrl}/pictures/[\\w-]{43}\\.webp$`));

    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await read(api, first.body.url, method);
      expect(status).toBe(200);
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'image/webp',
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none';frame-ancestors 'none'",
        'cross-origin-resource-policy': 'cross-origin',
      });
      expect(headers.has('set-cookie')).toBe(false);
    }
  });

  test('replaces the one before, which is gone, and is shown to the team', async ({ api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: account });
    const caller = await sender(api, account);
    const first = await caller.own(await (await halves()).png().toBuffer());
    const second = await caller.own(await (await halves(BLUE, RED)).png().toBuffer());

    expect(second.body.url).not.toBe(first.body.url);
    expect((await read(api, first.body.url)).status).toBe(404);
    expect((await read(api, second.body.url)).status).toBe(200);
    expect(await rowsOf(api, account)).toHaveLength(1);
    const [member] = await caller.visitor.trpc.listTeamMembers.query({ teamId: team.id });
    expect(member?.avatar).toBe(second.body.url);
    expect((await caller.visitor.trpc.getMe.query()).avatar).toBe(second.body.url);
  });

  test('is recorded as a change of the profile or the team', async ({ api }) => {
    const account = await api.anAccount();
    const team = await api.aTeam({ owner: account });
    const caller = await sender(api, account);
    const picture = await (await halves()).png().toBuffer();
    const set = await caller.ofTeam(team, picture);
    await caller.own(picture);

    expect((await caller.visitor.trpc.getTeam.query({ teamId: team.id })).avatarUrl).toBe(set.body.url);
    const events = await api.rows(
      'select event, actor_id, team_id, details from audit_event where actor_id = $1 order by id',
      [account.id],
    );
    expect(events).toMatchObject([
      { event: 'team.updated', team_id: team.id, details: { changed: ['avatarUrl'] } },
      { event: 'account.profile_changed' },
    ]);
  });

  test('is deleted with its URL, its team and its account', async ({ api }) => {
    const owner = await api.anAccount();
    const [kept, deleted] = [await api.aTeam({ owner }), await api.aTeam({ owner })];
    const caller = await sender(api, owner);
    const picture = await (await halves()).png().toBuffer();
    const urls = [await caller.own(picture), await caller.ofTeam(kept, picture), await caller.ofTeam(deleted, picture)];
    const { trpc } = caller.visitor;
    expect(new Set(urls.map(({ body }) => body.url)).size).toBe(3);

    await trpc.teams.updateDetails.mutate({ teamId: kept.id, description: 'It stays.' });
    expect(await rowsOf(api, kept)).toHaveLength(1);
    await trpc.teams.updateDetails.mutate({ teamId: kept.id, avatarUrl: null });
    expect(await rowsOf(api, kept)).toEqual([]);
    await trpc.teams.delete.mutate({ teamId: deleted.id });
    await trpc.account.updateProfile.mutate({ firstName: 'Ada' });
    expect(await rowsOf(api, owner)).toHaveLength(1);
    await trpc.account.delete.mutate();

    for (const { body } of urls) expect((await read(api, body.url)).status).toBe(404);
    expect(await api.rows('select from picture where $1 in (account_id, team_id)', [deleted.id])).toEqual([]);
    expect(await rowsOf(api, owner)).toEqual([]);
  });

  test('is no longer served once the operator has changed its URL', async ({ api }) => {
    const account = await api.anAccount();
    const set = await (await sender(api, account)).own(await (await halves()).png().toBuffer());
    await api.rows('update account set avatar = $2 where id = $1', [account.id, 'https://example.com/other.png']);
    expect((await read(api, set.body.url)).status).toBe(404);
  });
});

describe('a file is refused, and changes nothing:', () => {
  const cut = async () => (await (await halves()).png({ compressionLevel: 0 }).toBuffer()).subarray(0, 20_000);
  test.for([
    ['SVG as SVG', () => SVG, 'image/svg+xml', 'unsupported_media_type'],
    ['SVG as PNG', () => SVG, 'image/png', 'picture_rejected'],
    ['a page as JPEG', () => Buffer.from('<!doctype html><script>alert(1)</script>'), 'image/jpeg', 'picture_rejected'],
    ['GIF as PNG', async () => (await halves()).gif().toBuffer(), 'image/png', 'picture_rejected'],
    ['TIFF as PNG', async () => (await halves()).tiff().toBuffer(), 'image/png', 'picture_rejected'],
    ['a form', () => Buffer.from('a=b'), 'multipart/form-data; boundary=a', 'unsupported_media_type'],
    ['36 million pixels in 36 KB', () => aBomb(6000, 6000), 'image/png', 'picture_rejected'],
    ['a size that its header invents', () => aBomb(2 ** 31 - 1, 2 ** 31 - 1, 1), 'image/png', 'picture_rejected'],
    ['a PNG that ends early', cut, 'image/png', 'picture_rejected'],
    ['a JPEG that ends early', async () => (await aPhotograph()).subarray(0, 900), 'image/jpeg', 'picture_rejected'],
    ['only the signature', () => Buffer.from('RIFF\0\0\0\0WEBP', 'latin1'), 'image/webp', 'picture_rejected'],
    ['nothing', () => Buffer.alloc(0), 'image/png', 'picture_rejected'],
    ['one byte more than 2 MiB', () => Buffer.alloc(MAX + 1), 'image/png', 'body_too_large'],
  ] as const)('%s', async ([, make, type, code], { api }) => {
    const account = await api.anAccount();
    expect(await (await sender(api, account)).own(await make(), type)).toBeProblem(code);
    expect(await rowsOf(api, account)).toEqual([]);
    expect(await avatarOf(api, account)).toBeNull();
  });

  test('more than 2 MiB of unknown length, and a compressed body', async ({ api }) => {
    const caller = await sender(api, await api.anAccount());
    const chunked = { 'transfer-encoding': 'chunked' };
    expect(await caller.put('/pictures/me', Buffer.alloc(MAX + 1), 'image/png', chunked)).toBeProblem('body_too_large');
    const zipped = { 'content-encoding': 'gzip' };
    expect(await caller.put('/pictures/me', Buffer.alloc(9), 'image/png', zipped)).toBeProblem(
      'unsupported_media_type',
    );
  });

  test('a polyglot is accepted as a picture, and nothing of the rest is kept', async ({ api }) => {
    const tail = Buffer.from('<script>alert(document.domain)</script>PK\x03\x04');
    const polyglot = Buffer.concat([await (await halves()).jpeg().toBuffer(), tail]);
    const set = await (await sender(api, await api.anAccount())).own(polyglot, 'image/jpeg');
    expect(set.status, set.text).toBe(200);
    const { bytes, headers } = await read(api, set.body.url);
    expect(bytes.includes('script')).toBe(false);
    expect(headers.get('content-type')).toBe('image/webp');
  });
});

describe('only those who may change a picture can:', () => {
  test('guests, keys, other sites and tabs of other accounts cannot', async ({ api }) => {
    const account = await api.anAccount();
    const picture = await (await halves()).png().toBuffer();
    const caller = await sender(api, account);
    const send = (headers: Record<string, string>) =>
      api.anonymous.send({
        method: 'PUT',
        path: '/pictures/me',
        headers: { 'content-type': 'image/png', ...headers },
        body: picture,
      });
    const key = await api.anApiKey(account);

    expect(await send({ origin: api.services.config.baseUrl })).toBeProblem('credential_missing');
    expect(await send({ authorization: `Bearer ${key.secret}` })).toBeProblem('session_required');
    const other = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect(await caller.put('/pictures/me', picture, 'image/png', other)).toBeProblem('cross_site_request');
    const stale = { 'x-roster-account': 'acc_other' };
    expect(await caller.put('/pictures/me', picture, 'image/png', stale)).toBeProblem('account_changed');
    expect(await rowsOf(api, account)).toEqual([]);
  });

  test('of a team: members with the permission, and for others the team does not exist', async ({ api }) => {
    const team = await api.aTeam();
    const [stranger, member, editor] = [await api.anAccount(), await api.anAccount(), await api.anAccount()];
    await api.aMember(team, member, { role: 'member' });
    await api.aMember(team, editor, { role: (await api.aRole(team, ['edit_team_settings'])).id });
    const picture = await (await halves()).png().toBuffer();
    const as = async (account: { id: string }) => (await sender(api, account)).ofTeam(team, picture);

    expect(await as(stranger)).toBeProblem('team_not_found');
    expect(await as(member)).toBeProblem('permission_missing');
    expect((await as(editor)).status).toBe(200);
    expect(await (await sender(api, stranger)).ofTeam({ id: '%00' }, picture)).toBeProblem('team_not_found');
  });

  test('a permission that is lost while the picture is converted no longer counts', async ({ api }) => {
    const [team, editor] = [await api.aTeam(), await api.anAccount()];
    await api.aMember(team, editor, { role: (await api.aRole(team, ['edit_team_settings'])).id });
    const picture = await (await halves()).png().toBuffer();
    const caller = await sender(api, editor);
    // The lock of the team holds the change up after the first check, and the loss commits before it goes on.
    const sent = await api.services.db.transact(async ({ em: tx }) => {
      await tx.execute('select id from team where id = ? for update', [team.id]);
      const answer = caller.ofTeam(team, picture);
      await expect
        .poll(() => api.rows(`select 1 from pg_stat_activity where wait_event_type = 'Lock'`))
        .not.toEqual([]);
      await tx.execute(`update membership set role_id = 'member' where account_id = ?`, [editor.id]);
      return { answer };
    });
    expect(await sent.answer).toBeProblem('permission_missing');
    expect(await rowsOf(api, team)).toEqual([]);
  });
});

describe('the service stays bounded:', () => {
  test('an account can set a limited number of pictures per hour', async () => {
    const api = await aService({ PICTURE_LIMIT: '2' });
    const caller = await sender(api, await api.anAccount());
    const picture = await (await halves()).png().toBuffer();
    expect((await caller.own(picture)).status).toBe(200);
    expect((await caller.own(picture)).status).toBe(200);
    expect(await caller.own(picture)).toBeProblem('rate_limited');
    expect((await (await sender(api, await api.anAccount())).own(picture)).status).toBe(200);
  });

  test('two at a time are both set, the last one stays, and a third is refused', async ({ api }) => {
    const account = await api.anAccount();
    const caller = await sender(api, account);
    const [one, other] = await Promise.all([
      halves().then((picture) => picture.png().toBuffer()),
      halves(BLUE, RED).then((picture) => picture.png().toBuffer()),
    ]);
    const open = [one, other, one].map((picture) => ({ picture, req: caller.begin(picture, 10) }));
    const answers = open.map(
      ({ req }) => new Promise<number>((resolve) => req.on('response', (res) => resolve(res.resume().statusCode ?? 0))),
    );
    // Two hold a place each until they have sent the rest.
    expect(await Promise.race(answers)).toBe(429);
    for (const { picture, req } of open) req.end(picture.subarray(10));
    expect((await Promise.all(answers)).toSorted((a, b) => a - b)).toEqual([200, 200, 429]);
    const [row, ...more] = await rowsOf(api, account);
    expect(more).toEqual([]);
    expect(await avatarOf(api, account)).toContain(row?.name);
  });

  test('a client that hangs up changes nothing, and frees its place', async ({ api }) => {
    const account = await api.anAccount();
    const caller = await sender(api, account);
    const picture = await (await halves()).png().toBuffer();
    for (let i = 0; i < 6; i += 1) {
      const req = caller.begin(picture, i % 2 === 0 ? 10 : picture.length);
      await new Promise((resolve) => req.on('socket', (socket) => socket.once('connect', resolve)));
      req.destroy();
    }
    await expect.poll(async () => (await caller.own(picture)).status).toBe(200);
  });

  test('names that do not exist consume the rate limit of the address, and pictures do not', async () => {
    const api = await aService({ RATE_LIMIT: '4' });
    const set = await (await sender(api, await api.anAccount())).own(await (await halves()).png().toBuffer());
    const unknown = `${api.services.config.baseUrl}/pictures/${'a'.repeat(43)}.webp`;
    for (let i = 0; i < 10; i += 1) expect((await read(api, set.body.url)).status).toBe(200);
    const statuses: number[] = [];
    for (let i = 0; i < 5; i += 1) statuses.push((await read(api, unknown)).status);
    expect(statuses).toEqual([404, 404, 404, 404, 429]);
  });
});

describe('a picture at a URL', () => {
  test.for([
    'https://127.0.0.1/a.png',
    'https://[::1]/a.png',
    'https://169.254.169.254/latest/meta-data',
    'https://localhost/a.png',
    'https://10.0.0.1/a.png',
  ])('is not fetched from %s', async (url, { api }) => {
    const account = await api.anAccount();
    expect(await (await sender(api, account)).fetch(url)).toBeProblem('picture_unreachable');
    expect(await avatarOf(api, account)).toBeNull();
  });

  test('is never requested over http or with a password, nor from a server of this machine', async ({ api }) => {
    let connections = 0;
    const server = createServer(() => undefined).on('connection', () => (connections += 1));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number }; // listening on TCP
    const caller = await sender(api, await api.anAccount());
    expect(await caller.fetch(`http://127.0.0.1:${port}/a.png`)).toBeProblem('validation_failed');
    expect(await caller.fetch(`https://127.0.0.1:${port}/a.png`)).toBeProblem('picture_unreachable');
    expect(await caller.fetch('https://user:secret@example.com/a.png')).toBeProblem('validation_failed');
    expect(await caller.fetch(7)).toBeProblem('validation_failed');
    expect(connections).toBe(0);
    server.close();
  });
});

const near = (a: typeof RED, b: typeof RED): boolean =>
  Math.max(Math.abs(a.r - b.r), Math.abs(a.g - b.g), Math.abs(a.b - b.b)) < 25;
