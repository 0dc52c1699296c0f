import { describe, expect, test } from 'vitest';
import { findNoticePage, NOTICE_PAGES, TEAM_PAGE_ACCESS, type NoticeKind } from '../../src/email/notices.ts';
import { PERMISSIONS } from '../../src/entities/index.ts';
import { readConsolePages } from '../support/console-routes.ts';

const ACCESS = new Map(readConsolePages().map(({ path, access }) => [path, access]));
const KINDS = Object.keys(NOTICE_PAGES) as NoticeKind[];

test('the page of each notice about a team needs the permission that its route declares', () => {
  const declared = Object.keys(TEAM_PAGE_ACCESS).map((page) => [page, ACCESS.get(`/teams/$teamId${page}`)]);
  expect(Object.entries(TEAM_PAGE_ACCESS)).toEqual(declared);
});

/** Readers: no member any more, and members without each of the permissions. */
const READERS = [null, [], ...PERMISSIONS.map((lacking) => PERMISSIONS.filter((one) => one !== lacking))];

describe('the link of a notice leads its reader to a page that they may see', () => {
  test.for(KINDS)('%s', (kind) => {
    for (const teamId of ['team_1', null])
      for (const permissions of READERS) {
        const page = findNoticePage({ kind, teamId, permissions });
        const access = ACCESS.get((page ?? '').replace(/^\/teams\/team_1/, '/teams/$teamId').replace(/#.*/, ''));
        if (page === null || !page.startsWith('/teams/')) continue;
        expect(permissions, page).not.toBeNull();
        if (access !== 'member') expect(permissions, page).toContain(access);
      }
    if (NOTICE_PAGES[kind] !== null)
      expect(findNoticePage({ kind, teamId: 'team_1', permissions: PERMISSIONS })).toBe(NOTICE_PAGES[kind]('team_1'));
  });
});
