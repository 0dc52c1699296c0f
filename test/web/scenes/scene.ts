import type { Page } from 'playwright-core';
import type { Api } from '../../support/api.ts';
import { shows } from '../console.ts';

/** A page in one of its states, by the name of its pictures. */
export type Scene = readonly [
  name: string,
  show: (api: Api, open: (path: string, as?: { id: string }) => Promise<Page>) => Promise<Page>,
  /** The width up to which windows have it, for what only narrow windows have. */
  maxWidth?: number | undefined,
];

export const LONG_NAME = 'Böhm & Söhne, with a name as long as a name of a team or a client may sensibly be';

export async function shown(page: Page, name: string | RegExp): Promise<Page> {
  await shows(page, name);
  return page;
}
