import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '../../src');
const WEB = join(SRC, 'web');

/** Rooms of src from the top down. A file imports from its own room or from lower layers, never from another room of its layer. */
const LAYERS: readonly (readonly string[])[] = [
  ['main.ts', 'cli'],
  ['service'],
  ['app.ts'],
  ['oauth'],
  ['exports', 'mcp', 'pages', 'picture-uploads', 'secret-scanning', 'trpc'],
  ['demo', 'rest', 'router.ts'],
  ['resources', 'http'],
  ['webhooks'],
  ['procedures', 'jobs'],
  ['transactions'],
  ['service/services.ts'],
  ['auth', 'backup', 'events'],
  ['db', 'rate-limit'],
  ['crypto', 'embedded-postgres', 'picture-conversion', 'telemetry'],
  ['email', 'entities', 'outbound'],
  ['config', 'messages', 'open-enum.ts', 'problems', 'time.ts'],
  ['color.ts', 'csv.ts', 'exact-json.ts', 'turns.ts'],
];

/** Says which room of these layers a file is in, and which layer. */
const placesIn = (layers: typeof LAYERS) => {
  // A file that has a place of its own is not in the room of its folder.
  const rooms = layers.flat().toSorted((a, b) => b.length - a.length);
  const roomOf = (file: string) => rooms.find((room) => file === room || file.startsWith(`${room}/`));
  return { roomOf, layerOf: (file: string) => layers.findIndex((rooms) => rooms.includes(roomOf(file) ?? '')) };
};
const { roomOf, layerOf } = placesIn(LAYERS);

/** What one resource takes from another. */
const ALLOWED: readonly (readonly [from: string, to: string])[] = [
  // Who leaves a team, or loses a permission, loses what depended on it.
  ['', 'invitations/end-invitations.ts'],
  ['teams/', 'members/end-membership.ts'],
  // A leaked token ends its family, and a client that has fewer permissions leaves its keys fewer.
  ['leaked-secrets/', 'oauth-grants/token-family.ts'],
  ['oauth-clients/', 'oauth-grants/reduce-grant.ts'],
  // Whoever gives permissions of the product finds them in the catalogue.
  ['', 'permissions/declared-permissions.ts'],
  // What an account must be to get something, and how a member is named.
  ['', 'accounts/require-account.ts'],
  ['', 'members/member-id.ts'],
  // Whoever adds a member or an invitation counts the seats of the plan.
  ['', 'billing/seats.ts'],
  // Whoever grants a role finds it as a role of the team or of the system.
  ['', 'roles/find-team-role.ts'],
  // Security notices keep their language for as long as a session can last.
  ['accounts/profile.service.ts', 'sessions/longest-session.ts'],
  // Every way of signing in begins a session, and every change of a password ends some.
  ['', 'sessions/sessions.service.ts'],
  ['', 'sessions/start-session.ts'],
  // A browser that follows an emailed link becomes a known one.
  ['', 'sessions/known-devices.ts'],
  // Whoever changes the URL of a picture deletes the picture that it named.
  ['', 'pictures/pictures.service.ts'],
  // Lists of all accounts have what their own profile has.
  ['operator/', 'me/me.queries.ts'],
  // Imported rows have metadata like the operator API.
  ['imports/', 'metadata/metadata-patch.ts'],
  // Imported teams get slugs like others.
  ['imports/', 'teams/slug.ts'],
  // Sign-in sends and consumes the links that accounts define.
  ['sign-in/', 'accounts/email-link-token.ts'],
  // A sign-up sends an account that the operator moved back to its address, and a link to the new one confirms the move.
  ['sign-in/', 'accounts/email.service.ts'],
  ['accounts/accounts.service.ts', 'sign-in/requested-link.ts'],
  // A change of the password offers what a reset does.
  ['accounts/accounts.console.router.ts', 'sign-in/remaining-access.ts'],
  ['accounts/accounts.console.router.ts', 'sign-in/sign-in.schema.ts'],
  // Signing up by an invitation accepts it.
  ['sign-in/', 'invitations/acceptance.service.ts'],
  // Consent goes to a redirect URI that the client still has.
  ['oauth-consent/', 'oauth-clients/redirect-uri.ts'],
  // Links and invitations lead back to the application at which their way began.
  ['sign-in/', 'oauth-consent/continuation.ts'],
  ['invitations/', 'oauth-consent/continuation.ts'],
  // The operator makes the same changes in the console, over the operator API and on the command line.
  ['operator/', 'accounts/accounts.schema.ts'],
  ['operator/', 'accounts/accounts.service.ts'],
  ['operator/', 'api-keys/revocation.service.ts'],
  ['operator/', 'billing/plans.ts'],
  ['operator/', 'billing/billing.queries.ts'],
  ['teams/teams.operator.router.ts', 'billing/billing.queries.ts'],
  ['teams/teams.operator.router.ts', 'billing/billing.service.ts'],
  // An account that the operator creates gets a link to set its password.
  ['accounts/accounts.operator.router.ts', 'sign-in/email-link.ts'],
  // Accounts and teams have external ids there too.
  ['', 'operator/references.ts'],
  // New teams have the roles of the templates.
  ['imports/', 'roles/template-roles.ts'],
  ['teams/', 'roles/template-roles.ts'],
  ['operator/', 'teams/teams.schema.ts'],
  // What is changed or joined is answered in the words of the specification.
  ['accounts/', 'me/me.schema.ts'],
  ['invitations/', 'teams/teams.schema.ts'],
];

/** Rooms of the console from the top down, with the same rule. */
const WEB_LAYERS: readonly (readonly string[])[] = [
  ['main.tsx', 'start.ts'],
  ['router.ts', 'missing-files.ts'],
  ['routes'],
  ['frame', 'pages'],
  ['components'],
  ['page-queries.ts', 'passkeys.ts', 'picture-upload.ts', 'scopes.ts', 'session.ts', 'team-reference.ts', 'theme.ts'],
  ['trpc.ts'],
  ['load-error.ts', 'proof.ts', 'proof-link.ts', 'sign-in-again.ts', 'unanswered.ts'],
  ['messages'],
  ['page-access.ts', 'way-of-application.ts'],
  ['api-types.ts', 'brand.ts', 'kept.ts', 'search-words.ts', 'stored.ts'],
];

const files = globSync('**/*.ts', { cwd: SRC }).filter((file) => !file.startsWith('web/'));

const importsOf = (file: string, root = SRC): string[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path = '']) =>
    relative(root, join(root, dirname(file), path)),
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

  test('the rooms of the console have layers too, and it takes nothing from the service but its languages and the rule of names', () => {
    const web = placesIn(WEB_LAYERS);
    const all = globSync('**/*.{ts,tsx}', { cwd: WEB });
    expect(all.length).toBeGreaterThan(300);
    expect(all.filter((file) => web.layerOf(file) === -1)).toEqual([]);
    const imports = all.flatMap((file) => importsOf(file, WEB).map((target) => ({ file, target })));
    const stray = imports.filter(({ file, target }) =>
      target.startsWith('../')
        ? !['languages.ts', 'localized.ts', 'neutralize.ts', 'direction.ts']
            .map((name) => `../messages/${name}`)
            .includes(target)
        : web.roomOf(target) !== web.roomOf(file) && web.layerOf(target) <= web.layerOf(file),
    );
    expect(stray.filter(({ target }) => !/\.(css|json|svg)$/.test(target))).toEqual([]);
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
        // What the operator's API of every resource shares: how its changes are made, its lists, ids and words.
        .filter((target) => !(file.includes('.operator.') && target.startsWith('resources/operator/')))
        .filter(
          (target) =>
            !ALLOWED.some(([from, to]) => file.startsWith(`resources/${from}`) && target === `resources/${to}`),
        )
        .map((target) => `${file} imports ${target}`),
    );
    expect(stray).toEqual([]);
  });

  test.each([
    [
      'express',
      /^(app\.ts|exports\/|pages\/|picture-uploads\/|secret-scanning\/|trpc\/|mcp\/|oauth\/|http\/(?:cookies|identify-session)\.ts)/,
    ],
    ['@modelcontextprotocol/', /^mcp\//],
    ['oidc-provider', /^oauth\//],
    ['jose', /^auth\/dpop\.ts$/],
    ['request-filtering-agent', /^outbound\/request\.ts$/],
    ['sharp', /^picture-conversion\/convert\.process\.ts$/],
    ['ioredis', /^rate-limit\/redis-(?:client|store)\.ts$/],
    ['rate-limiter-flexible', /^rate-limit\/redis-store\.ts$/],
    ['@oslojs/crypto', /^crypto\/tokens\.ts$/],
    ['graphile-worker', /^(jobs\/|db\/migrate\.ts)/],
    ['nodemailer', /^(email\/|config\/mailbox\.ts)/],
    ['intl-messageformat', /^messages\//],
    ['commander', /^cli\//],
    ['@simplewebauthn/server', /^resources\/passkeys\//],
    ['prom-client', /^telemetry\/(metrics|database-gauges)\.ts$/],
    ['@opentelemetry/', /^telemetry\/tracing\.ts$/],
    ['maxmind', /^http\/geolocation\.ts$/],
    ['bowser', /^http\/device\.ts$/],
  ])('%s is imported in its own place alone', (name, place) => {
    const users = files.filter((file) => readFileSync(join(SRC, file), 'utf8').includes(`from '${name}`));
    expect(users.filter((file) => !place.test(file))).toEqual([]);
  });

  test.each([
    // Where rows are locked outside of `transactions/locks.ts`, which enforces the order: one table at a time each.
    [
      'rows are locked',
      /LockMode|\bfor (update|no key update|share|key share)\b/,
      /^(transactions\/(?:locks|lock-(?:order|steps|credentials))\.ts|auth\/last-used\.ts|events\/(?:chain\/|feed\/erase\.ts)|jobs\/(?:cleanup(?:-kinds)?|unused-keys)\.ts|webhooks\/(claim|fan-out|note|queue)\.ts|oauth\/(token-statements|refresh-answers)\.ts)/,
    ],
    // Whatever sends requests bounds what the answers can cost; the doctor only tries whether a port is open.
    [
      'connections to others are opened',
      /\bfetch\(|import (?:\{[^}]*\b(?:request|get|connect|createConnection|Agent)\b[^}]*\}|\w+|\* as \w+) from 'node:(?:https?|http2|net|tls)'|from '(?:undici|axios|got|ky|node-fetch)'/,
      /^(?:outbound\/request|cli\/doctor)\.ts$/,
    ],
    ['sessions are created', /create\(Session\b|insert into "?session\b/, /^resources\/sessions\/start-session\.ts$/],
    // `test/trpc/auth-cookies.gate.test.ts` knows the names of all.
    ['cookies are set', /\.(?:cookie|clearCookie)\(|Set-Cookie/i, /^(http\/cookies|oauth\/provider-handler)\.ts$/],
    [
      'session cookies are set',
      /\bsetSession\b/,
      /^(http\/cookies|procedures\/browser-client|trpc\/read-browser-client|resources\/(?:sessions\/start-session|sign-in\/sign-(?:in|up)\.service))\.ts$/,
    ],
    ['procedures are declared to authenticate', /as AuthenticatingBrowser\b/, /^procedures\/procedures\.ts$/],
    ['attempts are limited by client address', /\bbyAddress\b/, /^rate-limit\//],
    ['transactions are opened', /\.transactional\(|\.transact\(/, /^(transactions|events\/chain)\//],
    ['private tables of the job queue are named', /_private_/, /^db\/queue-tables\.ts$/],
    ['the protocol of pg is spoken', /[gt](?:et|o)PgConnection|PG_INTERNALS/, /^db\//],
    [
      'private members are reached',
      /\bas unknown as \{|\['_\w+'\]|(?<!graphile_worker)\._(?!def\b)[a-z]\w*/,
      /^(db\/pipeline\/pg-internals)\.ts$/,
    ],
    ['the definitions of tRPC’s procedures are read', /\b_def\b/, /^procedures\/definition\.ts$/],
    ['commands print', /stdout\.write\(|console\.\w+\(/, /^(?!cli\/(?!(?:commands|output)\.ts$))/],
    // Commands get what they use of the process, so that they can run in any.
    ['commands use the process', /\bprocess\.(?:env|stdin|stdout|stderr)\b/, /^(?!cli\/(?!main\.ts$))/],
    ['advisory locks get their numbers', /_LOCK\b.* = 0x|advisory\w*_lock\((0x|\d)/, /^db\/advisory-locks\.ts$/],
  ])('%s in their own place alone', (_what, pattern, place) => {
    const code = (file: string) => readFileSync(join(SRC, file), 'utf8').replaceAll(/^\s*(\*|\/\/|\/\*\*).*$/gm, '');
    expect(files.filter((file) => pattern.test(code(file)) && !place.test(file))).toEqual([]);
  });

  test('one statement inserts sessions', () => {
    const inserting = files.flatMap((file) =>
      [
        ...readFileSync(join(SRC, file), 'utf8').matchAll(
          /(?:create|insert\w*|upsert\w*)\(Session\b|into "?session\b/g,
        ),
      ].map(() => file),
    );
    expect(inserting).toEqual(['resources/sessions/start-session.ts']);
  });
});
