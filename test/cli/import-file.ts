import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A file with these lines. */
export function aFile(content: readonly (object | string)[] | Buffer): string {
  const directory = mkdtempSync(join(tmpdir(), 'roster-import-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'users.ndjson');
  const text = Buffer.isBuffer(content)
    ? content
    : content.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
  writeFileSync(path, text);
  return path;
}

export type Counts = Record<'rows' | 'accounts' | 'teams' | 'memberships' | 'apiKeys' | 'existing' | 'refused', number>;

let prefixes = 0;
/** External ids that no other test uses. */
export const aPrefix = (): string => `t${(prefixes += 1)}-`;

export const account = (externalId: string, more: object = {}) => ({
  type: 'account',
  externalId,
  email: `${externalId}@example.com`,
  ...more,
});
export const team = (externalId: string, owner: string, more: object = {}) => ({
  type: 'team',
  externalId,
  name: 'Acme',
  owner,
  ...more,
});
export const membership = (of: string, account_: string, more: object = {}) => ({
  type: 'membership',
  team: of,
  account: account_,
  ...more,
});
