import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { hasChromium } from '../support/chromium.ts';
import type { Api } from '../support/api.ts';
import { signedIn } from '../support/browser.ts';
import { membershipOf } from '../trpc/console.ts';
import { findViolations } from './axe.ts';
import { aPerson, PASSWORD, test } from './console.ts';

/** A team of Ada with so many guests, `Zoë Nummer1` and so on. */
async function aCrowd(api: Api, guests: number) {
  const ada = await aPerson(api, { firstName: 'Ada', lastName: 'Lovelace' });
  const team = await api.aTeam({ owner: ada, name: 'Analytical Engine' });
  await api.rows(
    `with made as (
       insert into account (id, email, first_name, last_name, role, email_verified_at, created_at, updated_at)
       select $1 || '-' || n, n || '.' || $1 || '@example.com', 'Zoë', 'Nummer' || n, 'user', now(), now(), now()
       from generate_series(1, $3::int) n returning id
     )
     insert into membership (id, team_id, account_id, role_id, is_active, joined_at, created_at)
     select 'mem_' || id, $2, id, 'guest', true, now(), now() from made`,
    [ada.id, team.id, guests],
  );
  return { ada, team, path: `/teams/${team.id}/members` };
}

const names = (page: Page) => page.getByRole('rowheader');
const status = (page: Page, text: string) => page.getByRole('status').getByText(text);
const boxOf = (page: Page, name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true });
const focused = (page: Page) => page.evaluate<string | null>("document.activeElement.getAttribute('aria-label')");

async function select(page: Page, ...people: readonly string[]): Promise<void> {
  for (const name of people) await boxOf(page, name).check();
}

/** Opens the dialog of an action on the selected rows. */
async function begin(page: Page, action: string, title: string) {
  await page.getByRole('group', { name: 'Selection' }).getByRole('button', { name: action }).click();
  return page.getByRole('dialog', { name: title });
}

describe.skipIf(!hasChromium)('the table of ten thousand members', () => {
  test('has few rows in the page, and tells screen readers how many there are', async ({ api, open }) => {
    const { ada, path } = await aCrowd(api, 9999);
    const page = await open(path, { as: ada });
    await status(page, '10,000 members').waitFor();
    expect(await names(page).count()).toBeLessThan(60);
    expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe('10001');

    await page.getByRole('checkbox', { name: 'Select all 10,000 rows' }).check();
    const dialog = await begin(page, 'Remove', 'Remove 500 members');
    await dialog.getByText('This concerns the first 500 of 9,999.').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Clear selection' }).click();

    await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
    const last = page.getByRole('row', { name: /^Select Zoë Nummer9999 / });
    await last.waitFor();
    expect(await last.getAttribute('aria-rowindex')).toBe('10001');
    expect(await names(page).count()).toBeLessThan(60);
    expect(await findViolations(page)).toEqual([]);
  });

  test('shows its head while it is scrolled, and an offer of ownership above it', async ({ api, open }) => {
    const { ada, team, path } = await aCrowd(api, 200);
    const max = await aPerson(api, { firstName: 'Max' });
    await api.aMember(team, max, { role: 'member' });
    const { trpc } = await signedIn(api, ada);
    await trpc.teams.offerOwnership.mutate({ teamId: team.id, userId: max.id });
    const page = await open(path, { as: ada, viewport: { width: 1280, height: 800 } });
    const offer = await page.getByRole('button', { name: 'Withdraw offer' }).boundingBox();
    const table = await page.getByRole('table').boundingBox();
    expect(offer?.y).toBeLessThan(table?.y ?? 0);

    await page.evaluate('window.scrollTo(0, 5000)');
    const head = page.getByRole('columnheader', { name: 'Role' });
    await expect.poll(async () => (await head.boundingBox())?.y).toBe(0);
    await head.getByRole('button').click();
    await expect.poll(() => page.url()).toContain('sort=role');
  });

  test('is searched by parts of names and emails, filtered and sorted, and a reload keeps it', async ({
    api,
    open,
  }) => {
    const { ada, path } = await aCrowd(api, 9999);
    const page = await open(path, { as: ada });
    const search = page.getByRole('searchbox', { name: 'Search by name or email' });
    await search.fill('nummer9998 ZOE');
    await status(page, '1 of 10,000 members').waitFor();
    expect(await names(page).count()).toBe(1);
    await search.fill(ada.email);
    await names(page).filter({ hasText: 'Ada Lovelace' }).waitFor();
    await search.fill('nobody at all');
    await page.getByText('No results').waitFor();
    await page.getByRole('button', { name: 'Show all members' }).click();
    await status(page, '10,000 members').waitFor();

    await page.getByLabel('Role').selectOption('Role: Guest');
    await status(page, '9,999 of 10,000 members').waitFor();
    await page.getByRole('button', { name: 'Member', exact: true }).click();
    await page.getByRole('button', { name: 'Member', exact: true }).click();
    await names(page).first().filter({ hasText: 'Nummer9999' }).waitFor();
    const head = page.getByRole('columnheader', { name: 'Member' });
    expect(await head.getAttribute('aria-sort')).toBe('descending');
    await status(page, 'Sorted by Member, descending').waitFor();
    await search.fill('nummer12');
    await expect.poll(() => page.url()).toContain('q=nummer12');
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('checkbox', { name: 'Joined' }).uncheck();

    await page.reload();
    await names(page).first().filter({ hasText: 'Nummer1299' }).waitFor();
    expect(await head.getAttribute('aria-sort')).toBe('descending');
    expect(await page.getByLabel('Role').inputValue()).toBe('guest');
    expect(await page.getByRole('columnheader', { name: 'Joined' }).count()).toBe(0);
    await status(page, '111 of 10,000 members').waitFor();
  });

  test('is used by keyboard: arrows, Home and End move between rows, and a row with the focus stays', async ({
    api,
    open,
  }) => {
    const { ada, path } = await aCrowd(api, 9999);
    const page = await open(path, { as: ada });
    await boxOf(page, 'Ada Lovelace').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    const second = await focused(page);
    expect(second).toMatch(/^Select Zoë Nummer/);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('End');
    const rowIndex = "document.activeElement.closest('tr')?.getAttribute('aria-rowindex')";
    await expect.poll(() => page.evaluate(rowIndex)).toBe('10001');
    await page.keyboard.press('Space');
    await status(page, '1 selected').waitFor();
    await page.evaluate('window.scrollTo(0, 0)');
    await boxOf(page, 'Ada Lovelace').waitFor();
    expect(await page.locator(':focus').isChecked()).toBe(true);
    await page.keyboard.press('Home');
    await expect.poll(() => focused(page)).toBe('Select Ada Lovelace');
  });
});

describe.skipIf(!hasChromium)('members that are selected', () => {
  test('are changed by one action, with one outcome for each', async ({ api, open }) => {
    const { ada, team, path } = await aCrowd(api, 5);
    const page = await open(path, { as: ada });
    await page.getByRole('checkbox', { name: 'Select all 6 rows' }).check();
    await status(page, '6 selected').waitFor();
    await api.rows(`delete from membership where team_id = $1 and account_id = $2`, [team.id, `${ada.id}-2`]);
    const dialog = await begin(page, 'Deactivate', 'Deactivate 5 members');
    await dialog.getByText('Not possible for: Ada Lovelace.').waitFor();
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await dialog.getByText('4 done, 1 failed').waitFor();
    const outcome = (name: string) => dialog.getByRole('listitem').filter({ hasText: name });
    expect(await outcome('Nummer2').innerText()).toContain('Member not found');
    expect(await outcome('Nummer3').innerText()).toContain('Done');
    await dialog.getByRole('button', { name: 'Try 1 again' }).click();
    await dialog.getByText('4 done, 1 failed').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await status(page, '5 members').waitFor();
    expect(await page.getByRole('cell', { name: 'Inactive' }).count()).toBe(4);
    expect(await membershipOf(api, team, { id: `${ada.id}-1` })).toMatchObject({ is_active: false });
  });

  test('are removed after a confirmation; only those that the filter shows', async ({ api, open }) => {
    const { ada, team, path } = await aCrowd(api, 12);
    const page = await open(path, { as: ada });
    await page.getByRole('checkbox', { name: 'Select all 13 rows' }).check();
    await page.getByRole('searchbox').fill('nummer1');
    await status(page, '4 selected').waitFor();
    const dialog = await begin(page, 'Remove…', 'Remove 4 members');
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
    await dialog.getByText('4 done').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByText('No results').waitFor();
    const [left] = await api.rows<{ count: number }>(
      'select count(*)::int as count from membership where team_id = $1',
      [team.id],
    );
    expect(left).toEqual({ count: 9 });
  });

  test.for([false, true])(
    'are removed after their keys and invitations were listed, the other invitations revoked: %s',
    async (isAsked, { api, open }) => {
      const { ada, team, path } = await aCrowd(api, 3);
      const inviter = await api.aRole(team, ['invite_members']);
      const of = (number: number) => ({ id: `${ada.id}-${number}` });
      await api.anApiKey(of(1), { team });
      const [ending, staying, others] = [
        await api.anInvitation(team, { role: inviter.id }),
        await api.anInvitation(team),
        await api.anInvitation(team),
      ];
      await api.rows('update membership set role_id = $2 where account_id = $1', [of(1).id, inviter.id]);
      for (const [{ id }, sender] of [
        [ending, 1],
        [staying, 2],
        [others, 3],
      ] as const)
        await api.rows('update invitation set invited_by_id = $2 where id = $1', [id, of(sender).id]);
      const page = await open(path, { as: ada });
      await select(page, 'Zoë Nummer1', 'Zoë Nummer2');
      const dialog = await begin(page, 'Remove…', 'Remove 2 members');
      const listed = (title: string) => dialog.locator('div', { has: page.getByText(title, { exact: true }) }).last();
      await listed('This also revokes:').getByText('The API key “A key”').waitFor();
      await listed('This also revokes:').getByText(ending.email).waitFor();
      await listed('Invitations that they sent and that stay valid:').getByText(staying.email).waitFor();
      expect(await dialog.getByText(others.email).count()).toBe(0);
      if (isAsked) await dialog.getByRole('checkbox', { name: 'Revoke these invitations too' }).check();
      await dialog.getByRole('button', { name: 'Remove', exact: true }).click();
      await dialog.getByText('2 done').waitFor();

      const left = await api.rows<{ email: string }>('select email from invitation where team_id = $1', [team.id]);
      expect(left.map(({ email }) => email).toSorted()).toEqual(
        [...(isAsked ? [] : [staying.email]), others.email].toSorted(),
      );
    },
  );

  test('get a role together, in the order of a range that is selected with Shift', async ({ api, open }) => {
    const { ada, team, path } = await aCrowd(api, 4);
    const page = await open(path, { as: ada });
    await page.getByRole('button', { name: 'Member', exact: true }).click();
    await boxOf(page, 'Zoë Nummer1').click();
    await boxOf(page, 'Zoë Nummer3').click({ modifiers: ['Shift'] });
    await status(page, '3 selected').waitFor();
    const dialog = await begin(page, 'Change role…', 'Change the role of 3 members');
    await dialog.getByLabel('Role').selectOption('Member');
    await dialog.getByRole('button', { name: 'Change role', exact: true }).click();
    await dialog.getByText('3 done').waitFor();
    expect(await membershipOf(api, team, { id: `${ada.id}-3` })).toMatchObject({ role_id: 'member' });
    expect(await membershipOf(api, team, { id: `${ada.id}-4` })).toMatchObject({ role_id: 'guest' });
  });

  test('are left alone once the connection is lost, and go on after a new sign-in if the session has ended', async ({
    api,
    open,
  }) => {
    const { ada, team, path } = await aCrowd(api, 6);
    const page = await open(path, { as: ada });
    await select(page, 'Zoë Nummer1', 'Zoë Nummer2', 'Zoë Nummer3', 'Zoë Nummer4');
    const dialog = await begin(page, 'Deactivate', 'Deactivate 4 members');
    await page.context().setOffline(true);
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await dialog.getByText('0 done, 2 failed, 2 not started').waitFor();
    await dialog.getByRole('alert').getByText('No connection').waitFor();
    await page.context().setOffline(false);

    await api.rows('update session set revoked_at = now() where account_id = $1', [ada.id]);
    await dialog.getByRole('button', { name: 'Try 4 again' }).click();
    const signIn = page.getByRole('dialog', { name: 'Your session has ended' });
    await signIn.getByLabel('Password', { exact: true }).fill(PASSWORD);
    expect(await membershipOf(api, team, { id: `${ada.id}-1` })).toMatchObject({ is_active: true });
    await page.keyboard.press('Enter');
    await dialog.getByText('4 done').waitFor();
    expect(await signIn.count()).toBe(0);
    expect(await membershipOf(api, team, { id: `${ada.id}-1` })).toMatchObject({ is_active: false });
  });
});

describe.skipIf(!hasChromium)('an action on selected rows', () => {
  /** Answers calls of the action as the rate limit does. */
  const limited = (retryAfter: number) => ({
    status: 429,
    contentType: 'application/json',
    body: JSON.stringify({
      error: {
        message: 'Too many requests',
        code: -32029,
        data: {
          code: 'TOO_MANY_REQUESTS',
          httpStatus: 429,
          problem: {
            type: '/problems/rate_limited',
            title: 'Too many requests',
            status: 429,
            code: 'rate_limited',
            detail: 'Too many requests.',
            retryAfter,
          },
        },
      },
    }),
  });
  const outcomes = (dialog: Locator) => dialog.getByRole('list', { name: 'Results' }).getByRole('listitem');
  const inactive = async (api: Api, team: { id: string }) =>
    (await api.rows('select 1 from membership where team_id = $1 and not is_active', [team.id])).length;

  test('waits for the rate limit, and then does the rest, each once', async ({ api, open }) => {
    const { ada, team, path } = await aCrowd(api, 4);
    const page = await open(path, { as: ada });
    const sent: string[] = [];
    let isLimited = true;
    await page.route('**/trpc/members.deactivate', async (route) => {
      if (sent.length === 1 && isLimited) {
        isLimited = false;
        await route.fulfill(limited(2));
      } else {
        sent.push(route.request().postData() ?? '');
        await route.continue();
      }
    });
    await page.getByRole('checkbox', { name: 'Select all 5 rows' }).check();
    const dialog = await begin(page, 'Deactivate', 'Deactivate 4 members');
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await dialog.getByText(/^Rate limit reached\. Continues in \d s\.$/).waitFor();
    await dialog.getByText('4 done').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await expect.poll(() => page.getByRole('cell', { name: 'Inactive' }).count()).toBe(4);
    expect(await inactive(api, team)).toBe(4);
    expect(new Set(sent).size).toBe(4);
    expect(sent).toHaveLength(4);
  });

  test('is stopped while it waits and while calls are on their way: the table shows what was done', async ({
    api,
    open,
  }) => {
    const { ada, team, path } = await aCrowd(api, 5);
    const page = await open(path, { as: ada });
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let calls = 0;
    await page.route('**/trpc/members.deactivate', async (route) => {
      calls += 1;
      if (calls === 1) return route.continue();
      if (calls === 2) return route.fulfill(limited(900));
      held.resolve();
      await released.promise;
      return calls === 3 ? route.continue() : route.fulfill(limited(900));
    });
    await page.getByRole('checkbox', { name: 'Select all 6 rows' }).check();
    const dialog = await begin(page, 'Deactivate', 'Deactivate 5 members');
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await dialog.getByText(/^Rate limit reached/).waitFor();
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Stop' }).click();
    await dialog.getByText(/^1 done, 4 not started$/).waitFor();
    expect(await inactive(api, team)).toBe(1);

    // Stopped before the answer: nobody waits for a limit that no call needs anymore.
    await dialog.getByRole('button', { name: 'Try 4 again' }).click();
    await held.promise;
    await dialog.getByRole('button', { name: 'Stop' }).click();
    await expect.poll(() => calls).toBe(4);
    released.resolve();
    await dialog.getByText(/^\d done, \d not started$/).waitFor();
    const done = await inactive(api, team);
    await dialog.getByText(`${done} done, ${5 - done} not started`).waitFor();
    expect(await outcomes(dialog).filter({ hasText: 'Done' }).count()).toBe(done);
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await expect.poll(() => page.getByRole('cell', { name: 'Inactive' }).count()).toBe(done);
    await status(page, `${5 - done + 1} selected`).waitFor();
    expect(calls).toBe(4);
  });

  test('goes on after an error of the service on one row, which can be tried again', async ({ api, open }) => {
    const { ada, team, path } = await aCrowd(api, 4);
    const page = await open(path, { as: ada });
    const victim = `${ada.id}-2`;
    await api.rows(`create function break_membership() returns trigger language plpgsql as
      $$ begin raise exception 'broken on purpose'; end $$`);
    await api.rows(`create trigger broken before update on membership for each row
      when (old.account_id = '${victim}') execute function break_membership()`);
    // The document of the error is the service’s; a status of 500 would be a complaint of the browser’s console.
    await page.route('**/trpc/members.deactivate', async (route) => {
      const response = await route.fetch({
        url: route.request().url().replace(api.services.config.baseUrl, `http://127.0.0.1:${api.port}`),
      });
      await route.fulfill({ response, status: Math.min(response.status(), 400) });
    });
    await page.getByRole('checkbox', { name: 'Select all 5 rows' }).check();
    const dialog = await begin(page, 'Deactivate', 'Deactivate 4 members');
    await dialog.getByRole('button', { name: 'Deactivate' }).click();
    await dialog.getByText('3 done, 1 failed').waitFor();
    const logged = api.lines.findIndex(({ problem }) => problem === 'internal_error');
    expect(JSON.stringify(api.lines.splice(logged, 1))).toContain('broken on purpose');
    expect(await outcomes(dialog).filter({ hasText: 'Nummer2' }).innerText()).toContain('Internal server error');
    expect(await inactive(api, team)).toBe(3);
    await api.rows('drop trigger broken on membership');
    await dialog.getByRole('button', { name: 'Try 1 again' }).click();
    await dialog.getByText('4 done').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await expect.poll(() => page.getByRole('cell', { name: 'Inactive' }).count()).toBe(4);
    expect(await inactive(api, team)).toBe(4);
  });
});

test.skipIf(!hasChromium)('an export has the rows that were found, and no formulas', async ({ api, open }) => {
  const { ada, team, path } = await aCrowd(api, 1);
  const trap = await aPerson(api, { firstName: '=HYPERLINK("http://x.test")', lastName: 'שלום, עולם' });
  await api.aMember(team, trap, { role: 'guest' });
  const page = await open(`${path}?role=guest&sort=-member`, { as: ada });
  await status(page, '2 of 3 members').waitFor();
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ]);
  expect(saved.suggestedFilename()).toBe('members.csv');
  const lines = (await readFile(await saved.path(), 'utf8')).split('\r\n');
  expect(lines[0]).toBe('\ufeffMember,Email,Role,Status,Joined');
  expect(lines[1]).toMatch(/^Zoë Nummer1,1\./);
  expect(lines[2]).toContain(`"'=HYPERLINK(""http://x.test"") שלום, עולם",${trap.email},Guest,Active,`);
  expect(lines).toHaveLength(4);
});
