import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../src/web/routes');

/** Reads the paths of the console's pages from its routes, with parameters such as `$teamId`, and who may see each. */
export function readConsolePages(): readonly { readonly path: string; readonly access: string }[] {
  const source = readdirSync(FOLDER)
    .map((file) => readFileSync(join(FOLDER, file), 'utf8'))
    .join('\n')
    .replaceAll(/^\s*\/\/.*\n/gm, '');
  const routes = [
    ...source.matchAll(/getParentRoute: \(\) => (\w+),\s+path: '([^']+)',\s+(?:staticData: \{ access: '(\w+)' \})?/g),
  ];
  // A layout comes before the page that has its path.
  const pages = new Map(
    routes.map(([, parent, path = '', access = '']) => [
      parent === 'team' ? `/teams/$teamId${path === '/' ? '' : path}` : path,
      access,
    ]),
  );
  return [...pages].map(([path, access]) => ({ path, access }));
}

/** Reads the paths alone. */
export const readConsoleRoutes = (): readonly string[] => readConsolePages().map(({ path }) => path);
