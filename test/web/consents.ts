import type { Page } from 'playwright-core';
import type { Api } from '../support/api.ts';
import { shows } from './console.ts';

export const consentsOf = (api: Api, { id }: { id: string }) =>
  api.rows<{ team_id: string | null; scopes: string[] }>(
    'select team_id, scopes from oauth_token_family where account_id = $1',
    [id],
  );

export const approveButton = (page: Page) => page.getByRole('button', { name: 'Approve' });
export const asks = (page: Page) => shows(page, '“Planner” asks for access');
export const isBack = (page: Page) => shows(page, 'Back in the application');
export const isOver = (page: Page) => shows(page, 'Request no longer valid');

/** What the page offers to give. */
export const boxes = (page: Page) =>
  page.evaluate<{ scope: string; isOff: boolean; isTicked: boolean }[]>(
    `[...document.querySelectorAll('input[type=checkbox]')].map((box) => ({ scope: box.value, isOff: box.disabled, isTicked: box.checked }))`,
  );
