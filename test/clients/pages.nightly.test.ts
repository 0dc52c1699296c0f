import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { installPackedClient, TSC } from './packed-client.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = [
  'docs/keys-for-your-api.md',
  'docs/isolate-data.md',
  'docs/events.md',
  'docs/server-kit.md',
  'clients/typescript/README.md',
];
const PEERS = [
  '@tanstack/react-query',
  '@trpc/client',
  '@trpc/server',
  '@types/node',
  '@types/pg',
  '@types/react',
  '@types/react-dom',
  '@types/express',
  'jose',
  'oauth4webapi',
  'pg',
  'pg-types',
  'pg-protocol',
  'react',
  'vite',
  'express',
];
const COMPILER = {
  target: 'es2022',
  module: 'nodenext',
  jsx: 'react-jsx',
  strict: true,
  noImplicitAny: false,
  noEmit: true,
  skipLibCheck: true,
  lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'],
  types: ['node'],
};
/** The modules of the client whose functions pages show without saying where they are from. */
const MODULES = { '': 'index', '/oauth': 'oauth', '/react': 'react', '/server': 'server', '/trpc': 'trpc' };

/** What pages call the clients that a page before has created. */
const CREATED = new Map([
  ['auth', 'createRosterAuth'],
  ['operator', 'createOperator'],
  ['roster', 'createRoster'],
  ['trpc', 'createRosterTrpc'],
]);

type Block = { readonly file: string; readonly text: string };

const blocksOf = (page: string): Block[] =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^ *```(tsx?)\n([\s\S]*?)^ *```$/gm)].map(
    ([, type, text = ''], i) => ({
      file: `${page.replaceAll(/\W/g, '-')}-${i}.${type}`,
      text,
    }),
  );

// Guarantees that what a reader copies compiles with what the service serves: only names of their own are missing.
test.for(PAGES)('the code of %s compiles', { timeout: 120_000 }, async (page) => {
  const dir = mkdtempSync(join(tmpdir(), 'roster-page-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const installed = await installPackedClient(dir, PEERS);
  const known = new Map<string, string>();
  for (const [path, module] of Object.entries(MODULES))
    for (const name of Object.keys((await import(join(installed, `dist/${module}.js`))) as object))
      known.set(name, `@roster/client${path}`);
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER }));
  const compile = async (declared: (block: Block) => string): Promise<string> => {
    for (const block of blocksOf(page))
      writeFileSync(join(dir, block.file), `${declared(block)}\n${block.text}\nexport {};\n`);
    return promisify(execFile)(process.execPath, [TSC, '-p', '.', '--pretty', 'false'], { cwd: dir }).then(
      () => '',
      ({ stdout }: { stdout: string }) => stdout,
    );
  };
  expect(blocksOf(page).length).toBeGreaterThan(0);
  const missing = [
    ...(await compile(() => '')).matchAll(
      /^(\S+?)\(.*(?:Cannot find (?:name|namespace)|scope for the shorthand property) '(\w+)'/gm,
    ),
  ];
  const declare = (name: string): string => {
    if (name === 'pg') return `import pg from 'pg';`;
    if (known.has(name)) return `import { ${name} } from '${known.get(name)}';`;
    const created = CREATED.get(name);
    if (created === undefined) return `declare const ${name}: any;`;
    return `import type { ${created} } from '${known.get(created)}';\ndeclare const ${name}: ReturnType<typeof ${created}>;`;
  };
  const found = await compile(({ file }) =>
    [...new Set(missing.flatMap(([, of, name = '']) => (of === file ? [name] : [])))].map(declare).join('\n'),
  );
  expect(found).toBe('');
});
