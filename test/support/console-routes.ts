import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../src/web/routes');

/** Reads the paths of the console's pages from its routes, with parameters such as `$teamId`. */
export function readConsoleRoutes(): readonly string[] {
  const source = readdirSync(FOLDER).map((file) => readFileSync(join(FOLDER, file), 'utf8'));
  return [...source.join('\n').matchAll(/getParentRoute: \(\) => (\w+),\s+path: '([^']+)'/g)].map(
    ([, parent, path = '']) => (parent === 'team' ? `/teams/$teamId${path === '/' ? '' : path}` : path),
  );
}
