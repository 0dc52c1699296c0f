import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '../../src');

/** Rooms of src from the outside in: each may import only from rooms below its own line. */
const LAYERS: readonly (readonly string[])[] = [
  ['main.ts', 'cli'],
  ['app.ts', 'server.ts'],
  ['oauth'],
  ['rest', 'trpc', 'pages'],
  ['http'],
  ['router.ts', 'db/seed.ts'],
  ['resources', 'services.ts'],
  ['rpc'],
  ['jobs'],
  ['mail'],
  ['access'],
  ['db'],
  ['entities'],
  ['observe'],
  ['config.ts', 'errors.ts'],
];

const layerOf = (file: string): number =>
  LAYERS.findIndex((rooms) => rooms.some((room) => file === room || file.startsWith(`${room}/`)));

/** What one resource takes from another. */
const ALLOWED: readonly (readonly [from: string, to: string])[] = [
  // Whoever adds a member or an invitation counts the seats of the plan.
  ['', 'billing/seats.ts'],
  // Every way of signing in begins a session, and every change of a password ends some.
  ['', 'sessions/sessions.service.ts'],
  // Signing up by an invitation accepts it.
  ['auth/', 'invitations/acceptance.service.ts'],
  // An operator disables an account in the console as on the command line, and sees the plan that counts.
  ['operator/', 'accounts/accounts.service.ts'],
  ['operator/', 'billing/plans.ts'],
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
        .filter((target) => layerOf(target) < layerOf(file))
        .map((target) => `${file} imports ${target}`),
    );
    expect(stray).toEqual([]);
  });

  test('resources do not reach into each other, but where one says why', () => {
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
    ['express', /^(app\.ts|pages\/|trpc\/|oauth\/|http\/cookies\.ts)/],
    ['oidc-provider', /^oauth\//],
    ['jose', /^access\/dpop\.ts$/],
    ['request-filtering-agent', /^oauth\/client-documents\.ts$/],
    ['ioredis', /^http\/redis\.ts$/],
    ['rate-limiter-flexible', /^http\/redis\.ts$/],
    ['@oslojs/crypto', /^access\/secrets\.ts$/],
    ['graphile-worker', /^(jobs\/|db\/migrate\.ts)/],
    ['nodemailer', /^mail\//],
    ['commander', /^cli\//],
    ['@simplewebauthn/server', /^resources\/passkeys\//],
    ['prom-client', /^observe\/metrics\.ts$/],
    ['@opentelemetry/', /^observe\/tracing\.ts$/],
    ['maxmind', /^http\/place\.ts$/],
    ['bowser', /^trpc\/visitor\.ts$/],
  ])('%s is imported in its own place alone', (name, place) => {
    const users = files.filter((file) => readFileSync(join(SRC, file), 'utf8').includes(`from '${name}`));
    expect(users.filter((file) => !place.test(file))).toEqual([]);
  });
});
