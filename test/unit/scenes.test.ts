import { expect, test } from 'vitest';
import { readConsoleRoutes } from '../support/console-routes.ts';
import { PAGES } from '../web/scenes/pages.ts';

// Guarantees that the tests of every language and the pictures leave no page out.
test('each route of the console is among the pages that are opened in every language', () => {
  const opened = PAGES.map(([, , path]) => path.replace(/\?.*/, '').replaceAll(/:\w+/g, '$'));
  const routes = readConsoleRoutes();
  expect(routes.length).toBeGreaterThan(20);

  expect(routes.filter((route) => !opened.includes(route.replaceAll(/\$\w+/g, '$')))).toEqual([]);
});
