import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** How code bounds what runs at once. */
const FORMS = [
  /\bnew Turns\(/,
  /\boneAtATime\(/,
  // Counts what is at work, and what has ended.
  /\b(\w+) \+= 1\b[^]*\b\1 -= 1\b/,
  // Keeps what waits or runs.
  /\.push\((?:resolve|start)\)/,
  /\b(?:waiting|running|open|inFlight|slow|active|busy)\w*\b.* = new (?:Set|Map)</i,
  /\bWAITING_MAX\b/,
  // Settings of libraries.
  /\bconcurrency:/,
  /\bmaxConnections\b/,
  /\bnew (?:pg\.)?Pool\(|\bcreatePool\(/,
  /\bnew RateLimiterRedis\(|\bfunction createLimiter\(/,
];

const isBound = (file: string) => {
  const source = readFileSync(join(ROOT, 'src', file), 'utf8');
  return FORMS.some((form) => form.test(source));
};

/** The files in the first column of the table of limits, and its last column. */
function readTable(): readonly { readonly files: readonly string[]; readonly reason: string }[] {
  const [, section = ''] = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8').split('## Limits\n');
  return [...section.split('\n## ')[0]!.matchAll(/^\| (`.*?`) \| .* \| (.*) \|$/gm)].map(
    ([, files = '', reason = '']) => ({
      files: [...files.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file),
      reason,
    }),
  );
}

// Guarantees that whoever adds a bound finds the class of turns, or writes down why it does not serve.
test('the table of limits names every bound of the source, each with a reason', () => {
  const table = readTable();
  const named = table.flatMap(({ files }) => files);

  const found = globSync('**/*.ts', { cwd: join(ROOT, 'src') }).filter(
    (file) => !file.startsWith('web/') && file !== 'turns.ts' && isBound(file),
  );
  expect(named.toSorted()).toEqual(found.toSorted());
  expect(table.filter(({ reason }) => reason.length < 10)).toEqual([]);
});

test('those of the class of turns are said to be it, and no others', () => {
  const usesTurns = (file: string) =>
    /\bnew Turns\(|\boneAtATime\(/.test(readFileSync(join(ROOT, 'src', file), 'utf8'));
  for (const { files, reason } of readTable())
    for (const file of files) expect([file, usesTurns(file)]).toEqual([file, reason.startsWith('`Turns`')]);
});
