import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '../../src');

/** Rooms of src from the top down. A file imports from its own room or from lower layers, never from another room of its layer. */
const LAYERS: readonly (readonly string[])[] = [
  ['main.ts'],
  ['app.ts', 'primary.ts'],
  ['oauth'],
  ['cli', 'exports', 'mcp', 'pages', 'pictures', 'security', 'trpc'],
  ['demo', 'rest', 'router.ts'],
  ['resources', 'http', 'open-services.ts'],
  ['webhooks'],
  ['procedures', 'jobs'],
  ['transactions'],
  ['app-services.ts'],
  ['events', 'auth'],
  ['db', 'rate-limit'],
  ['crypto', 'images', 'telemetry'],
  ['email', 'entities', 'outbound', 'config.ts', 'errors.ts'],
  ['config-values.ts', 'messages', 'open-enum.ts', 'problems.ts', 'time.ts'],
  ['color.ts', 'csv.ts', 'database-url.ts', 'redis-url.ts'],
];

const roomOf = (file: string): string | undefined =>
  LAYERS.flat().find((room) => file === room || file.startsWith(`${room}/`));

const layerOf = (file: string): number => LAYERS.findIndex((rooms) => rooms.includes(roomOf(file) ?? ''));

/** What one resource takes from another. */
const ALLOWED: readonly (readonly [from: string, to: string])[] = [
  // Whoever adds a member or an invitation counts the seats of the plan.
  ['', 'billing/seats.ts'],
  // Whoever grants a role finds it as a role of the team or of the system.
  ['', 'roles/find-team-role.ts'],
  // Every way of signing in begins a session, and every change of a password ends some.
  ['', 'sessions/sessions.service.ts'],
  // A browser that follows an emailed link becomes a known one.
  ['', 'sessions/known-devices.ts'],
  // Whoever changes the URL of a picture deletes the picture that it named.
  ['', 'pictures/pictures.service.ts'],
  // Imported teams get slugs like others.
  ['imports/', 'teams/slug.ts'],
  // Sign-in sends and consumes the links that accounts define.
  ['sign-in/', 'accounts/email-link-token.ts'],
  // Signing up by an invitation accepts it.
  ['sign-in/', 'invitations/acceptance.service.ts'],
  // Accounts and teams have external ids there too.
  ['credentials/', 'operator/references.ts'],
  ['events/', 'operator/references.ts'],
  // The operator makes the same changes in the console, over the operator API and on the command line.
  ['operator/', 'accounts/accounts.schema.ts'],
  ['operator/', 'accounts/accounts.service.ts'],
  ['operator/', 'accounts/deletion.service.ts'],
  ['operator/', 'api-keys/revocation.service.ts'],
  ['operator/', 'billing/billing.queries.ts'],
  ['operator/', 'billing/billing.service.ts'],
  ['operator/', 'billing/plans.ts'],
  ['operator/', 'members/members.service.ts'],
  ['operator/', 'sign-in/email-link.ts'],
  ['operator/', 'teams/leave-and-delete.service.ts'],
  ['operator/', 'teams/ownership.service.ts'],
  ['operator/', 'teams/teams.schema.ts'],
  ['operator/', 'teams/teams.service.ts'],
  // What is changed or joined is answered in the words of the specification.
  ['accounts/', 'me/me.schema.ts'],
  ['invitations/', 'teams/teams.schema.ts'],
];

const files = globSync('**/*.ts', { cwd: SRC }).filter((file) => !file.startsWith('web/'));

const importsOf = (file: string): string[] =>
  [...readFileSync(join(SRC, file), 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path = '']) =>
    relative(SRC, join(SRC, dirname(file), path)),
  );

describe('the dependency rule', () => {
  test('every file has its place in the layers', () => {
    expect(files.filter((file) => layerOf(file) === -1)).toEqual([]);
  });

  test('imports point one way', () => {
    const stray = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => roomOf(target) !== roomOf(file) && layerOf(target) <= layerOf(file))
        .map((target) => `${file} imports ${target}`),
    );
    expect(stray).toEqual([]);
  });

  test('no file imports itself through others', () => {
    const all = globSync('**/*.{ts,tsx}', { cwd: SRC });
    const imports = new Map(all.map((file) => [file, importsOf(file)]));
    const done = new Set<string>();
    const circles: string[] = [];
    const follow = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
      if (path.includes(file) || done.has(file)) return;
      for (const target of imports.get(file) ?? []) follow(target, [...path, file]);
      done.add(file);
    };
    for (const file of all) follow(file, []);
    expect(circles).toEqual([]);
  });

  test('resources do not import from each other, except for stated reasons', () => {
    const slice = (file: string) => (file.startsWith('resources/') ? file.split('/')[1] : undefined);
    const stray = files.flatMap((file) =>
      importsOf(file)
        .filter((target) => slice(file) && slice(target) && slice(target) !== slice(file))
        .filter(
          (target) =>
            !ALLOWED.some(([from, to]) => file.startsWith(`resources/${from}`) && target === `resources/${to}`),
        )
        .map((target) => `${file} imports ${target}`),
    );
    expect(stray).toEqual([]);
  });

  test.each([
    ['express', /^(app\.ts|exports\/|pages\/|pictures\/|security\/|trpc\/|mcp\/|oauth\/|http\/cookies\.ts)/],
    ['@modelcontextprotocol/', /^mcp\//],
    ['oidc-provider', /^oauth\//],
    ['jose', /^auth\/dpop\.ts$/],
    ['request-filtering-agent', /^outbound\/request\.ts$/],
    ['sharp', /^images\/convert\.process\.ts$/],
    ['ioredis', /^rate-limit\/redis-(?:client|store)\.ts$/],
    ['rate-limiter-flexible', /^rate-limit\/redis-store\.ts$/],
    ['@oslojs/crypto', /^crypto\/tokens\.ts$/],
    ['graphile-worker', /^(jobs\/|db\/migrate\.ts)/],
    ['nodemailer', /^email\//],
    ['intl-messageformat', /^messages\//],
    ['commander', /^cli\//],
    ['@simplewebauthn/server', /^resources\/passkeys\//],
    ['prom-client', /^telemetry\/(metrics|database-gauges)\.ts$/],
    ['@opentelemetry/', /^telemetry\/tracing\.ts$/],
    ['maxmind', /^http\/geolocation\.ts$/],
    ['bowser', /^trpc\/browser-client\.ts$/],
  ])('%s is imported in its own place alone', (name, place) => {
    const users = files.filter((file) => readFileSync(join(SRC, file), 'utf8').includes(`from '${name}`));
    expect(users.filter((file) => !place.test(file))).toEqual([]);
  });

  test.each([
    // Where rows are locked outside of `transactions/locks.ts`, which enforces the order: one table at a time each.
    [
      'rows are locked',
      /LockMode|\bfor (update|no key update|share|key share)\b/,
      /^(transactions\/(?:locks|lock-steps)\.ts|auth\/last-used\.ts|events\/(?:chain\/|feed\/erase\.ts)|jobs\/(?:cleanup|unused-keys)\.ts|webhooks\/(claim|fan-out|note|queue)\.ts|oauth\/(token-statements|refresh-answers)\.ts)/,
    ],
    ['transactions are opened', /\.transactional\(/, /^(transactions|events\/chain)\//],
    ['private tables of the job queue are named', /_private_/, /^db\/queue-tables\.ts$/],
    ['the protocol of pg is spoken', /[gt](?:et|o)PgConnection|PG_INTERNALS/, /^db\//],
    [
      'private members are reached',
      /\bas unknown as \{|\['_\w+'\]|(?<!_def|graphile_worker)\._(?!def\b)[a-z]\w*/,
      /^(db\/pg-internals|procedures\/run|rest\/routes)\.ts$/,
    ],
    ['advisory locks get their numbers', /_LOCK\b.* = 0x|advisory\w*_lock\((0x|\d)/, /^db\/advisory-locks\.ts$/],
  ])('%s in their own place alone', (_what, pattern, place) => {
    const code = (file: string) => readFileSync(join(SRC, file), 'utf8').replaceAll(/^\s*(\*|\/\/|\/\*\*).*$/gm, '');
    expect(files.filter((file) => pattern.test(code(file)) && !place.test(file))).toEqual([]);
  });
});
