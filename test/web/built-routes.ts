import { readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const BUILT = join(ROOT, 'dist/web');
const ROUTES = join(ROOT, 'src/web/routes');

type Chunk = {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
  readonly isEntry?: boolean;
};

type Route = {
  /** Such as `/teams/$teamId/members`. */
  readonly path: string;
  readonly needsSession: boolean;
  /** The scripts that it loads beyond those of every page, by file name. */
  readonly scripts: readonly string[];
};

const readManifest = () =>
  JSON.parse(readFileSync(join(BUILT, 'manifest.json'), 'utf8')) as Readonly<Record<string, Chunk>>; // as Vite writes it

/** Returns the scripts of a module, with all that they import. */
function scriptsOf(manifest: ReturnType<typeof readManifest>, module: string, found = new Set<string>()): Set<string> {
  const chunk = manifest[module];
  if (chunk === undefined) throw new Error(`The build has no file for ${module}.`);
  if (found.has(chunk.file)) return found;
  found.add(chunk.file);
  for (const imported of chunk.imports ?? []) scriptsOf(manifest, imported, found);
  return found;
}

/** The scripts of every page, by file name. */
export const initialScripts = (): readonly string[] =>
  [...readFileSync(join(BUILT, 'index.html'), 'utf8').matchAll(/<script type="module"[^>]* src="\/([^"]+)"/g)].map(
    ([, file = '']) => file,
  );

/** All pages of the console, as its routes and the build have them. */
export function builtRoutes(): readonly Route[] {
  const manifest = readManifest();
  const initial = new Set(initialScripts());
  const parts = readdirSync(ROUTES).flatMap((file) =>
    readFileSync(join(ROUTES, file), 'utf8').split(/(?:const (\w+) = )?\bcreateRoute\(\{\s/),
  );
  const found = parts.flatMap((text, i) => {
    const [, parent, kind, path = ''] = /^\s*getParentRoute: \(\) => (\w+),\s+(path|id): '([^']+)'/.exec(text) ?? [];
    if (parent === undefined) return [];
    return {
      name: parts[i - 1],
      parent,
      path: kind === 'path' ? path : '',
      needsSession: text.includes('beforeLoad: requireSession'),
      page: /import\('([^']+)'\)/.exec(text)?.[1],
    };
  });
  type Found = (typeof found)[number];
  const lineOf = (route: Found): readonly Found[] => {
    const parent = found.find(({ name }) => name === route.parent);
    return parent === undefined ? [route] : [...lineOf(parent), route];
  };
  return found
    .filter(({ path, page, name }) => path !== '' && page !== undefined && !found.some((each) => each.parent === name))
    .map((route) => {
      const line = lineOf(route);
      const pages = line.flatMap(({ page }) => (page === undefined ? [] : [normalize(`routes/${page}`)]));
      const scripts = new Set(pages.flatMap((page) => [...scriptsOf(manifest, page)]));
      return {
        path: line
          .map(({ path }) => path)
          .join('')
          .replace(/(?<=.)\/$/, ''),
        needsSession: line.some(({ needsSession }) => needsSession),
        scripts: [...scripts].filter((script) => !initial.has(script)),
      };
    });
}

/** The parts of the texts of a language that these files load. */
export const partsLoadedBy = (files: readonly string[]): readonly string[] => [
  ...new Set(
    Object.values(readManifest())
      .filter(({ file }) => files.includes(file))
      .flatMap(({ dynamicImports = [] }) => dynamicImports)
      .flatMap((module) => /\.json\?(\w+)$/.exec(module)?.[1] ?? []),
  ),
];

/** The largest file with the texts of a language. */
export const largestTexts = (): string =>
  Object.entries(readManifest())
    .filter(([module]) => /^messages\/[\w-]+\.json\?first$/.test(module))
    .map(([, { file }]) => file)
    .toSorted((a, b) => gzipBytes([b]) - gzipBytes([a]))[0] ?? '';

/** How many bytes the service sends of these files to a browser that accepts gzip. */
export const gzipBytes = (files: readonly string[]): number =>
  files.reduce((sum, file) => sum + readFileSync(join(BUILT, `${file}.gz`)).length, 0);
