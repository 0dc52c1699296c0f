import { InvalidArgumentError, Option, type Command } from 'commander';
import { listAllClients } from '../resources/oauth-clients/oauth-clients.queries.ts';
import { OVERLAP_HOURS_MAX, REDIRECT_URIS_MAX } from '../resources/oauth-clients/oauth-clients.schema.ts';
import {
  createClient,
  deleteClient,
  rotateSecret,
  updateClient,
} from '../resources/oauth-clients/oauth-clients.service.ts';
import { DAYS_MAX } from '../config/values.ts';
import { OPENID_SCOPES, SCOPES, type Scope } from '../entities/index.ts';
import { CommandError } from './failure.ts';
import { withServices } from './operate.ts';
import type { Line } from './output.ts';
import { days, hours, listOf, resourceName, option, productPermissions, required } from './options.ts';

type CreateOptions = {
  name: string;
  redirectUri: string[];
  confidential?: true;
  native?: true;
  firstParty?: true;
  scopes?: Scope[];
  development?: true;
} & Urls;

type Urls = { homeUrl?: string; initiateLoginUri?: string };
type UpdateOptions = Urls & {
  client: string;
  name?: string;
  redirectUri?: string[];
  scopes?: Scope[];
  tokenLimit?: 'on' | 'off';
};

type LogoutOptions = { client: string; postLogoutRedirectUri: string[]; backchannelLogoutUri?: string };

type SessionOptions = { client: string; days?: number };

const ONCE = 'The secret is shown only once.';

export function oauthClientCommands(client: Command): void {
  client
    .command('create')
    .description('Create an OAuth client of this instance (ignores CLIENT_LIMIT)')
    .addOption(required(nameOption()))
    .addOption(required(redirectUriOption()))
    .option('--confidential', 'the client runs on a server and has a secret')
    .option('--native', 'the client runs on user devices: loopback and private-use redirect URIs')
    .option('--first-party', 'an application of your own: its users see no consent page')
    .addOption(option('--scopes <scopes>', 'scopes of a first-party client, comma-separated', listOf('scope', SCOPES)))
    .option('--development', 'the client can redirect to http://localhost, and its users confirm each time')
    .addOption(homeUrlOption())
    .addOption(initiateLoginUriOption())
    .action(
      withServices(async (services, options: CreateOptions) => {
        const { name, redirectUri, confidential, native, firstParty, scopes, development, ...urls } = options;
        if ((scopes !== undefined) !== (firstParty ?? false))
          throw new CommandError(
            '--first-party and --scopes belong together: users of other clients choose the scopes.',
          );
        const { clientId, clientSecret } = await createClient(services, 'system', {
          name,
          redirectUris: redirectUri,
          isNative: native ?? false,
          isConfidential: confidential ?? false,
          firstPartyScopes: scopes,
          isDevelopment: development,
          ...urls,
        });
        return clientSecret === null
          ? { json: { clientId }, lines: [[clientId, name]] }
          : { json: { clientId, clientSecret }, lines: [[clientId, name], clientSecret, ONCE] };
      }),
    );

  client
    .command('list')
    .description('List all OAuth clients, oldest first')
    .action(
      withServices(async ({ db }) => {
        const clients = await listAllClients(db);
        return { json: clients, lines: clients.length > 0 ? clients.map(toLine) : ['There are no OAuth clients.'] };
      }),
    );

  client
    .command('update')
    .description('Change an OAuth client of this instance. Options that are left out keep their value')
    .addOption(clientOption())
    .addOption(nameOption())
    .addOption(redirectUriOption())
    .addOption(option('--scopes <scopes>', 'scopes of a first-party client, comma-separated', listOf('scope', SCOPES)))
    .addOption(homeUrlOption())
    .addOption(initiateLoginUriOption())
    .addOption(
      new Option(
        '--token-limit <setting>',
        'whether OAUTH_CLIENT_LIMIT counts token requests of a first-party client with a secret; others are always limited',
      ).choices(['on', 'off']),
    )
    .action(
      withServices(
        async (
          services,
          { client: clientId, redirectUri: redirectUris, scopes, tokenLimit, ...rest }: UpdateOptions,
        ) => {
          const hasTokenLimit = tokenLimit === undefined ? undefined : tokenLimit === 'on';
          const changed = { ...rest, redirectUris, firstPartyScopes: scopes, hasTokenLimit };
          await updateClient(services, 'system', clientId, changed);
          return { json: { success: true }, lines: [`${clientId} changed.`] };
        },
      ),
    );

  client
    .command('set-permissions')
    .description('Set which permissions of your product an OAuth client asks its users for')
    .addOption(clientOption())
    .addOption(required(permissionsOption()))
    .action(
      withServices(async (services, { client: clientId, permissions }: { client: string; permissions: string[] }) => {
        await updateClient(services, 'system', clientId, { permissions });
        return {
          json: { clientId, permissions },
          lines: [[clientId, `(${permissions.join(', ') || 'no permissions'})`]],
        };
      }),
    );

  client
    .command('rotate-secret')
    .description('Rotate the secret of a confidential OAuth client')
    .addOption(clientOption())
    .addOption(
      option('--overlap-hours <hours>', 'how long the old secret stays valid', hours(OVERLAP_HOURS_MAX)).default(24),
    )
    .action(
      withServices(async (services, { client: clientId, overlapHours }: { client: string; overlapHours: number }) => {
        const clientSecret = await rotateSecret(services, 'system', clientId, overlapHours);
        return { json: { clientId, clientSecret }, lines: [clientId, clientSecret, ONCE] };
      }),
    );

  client
    .command('set-logout')
    .description('Set where browsers go after a logout, and where an application of your own is told of it')
    .addOption(clientOption())
    .addOption(
      new Option('--post-logout-redirect-uri <uri>', 'can be repeated; none without it').argParser(eachUri).default([]),
    )
    .option('--backchannel-logout-uri <uri>', 'receives logout tokens; none without it')
    .action(
      withServices(async (services, options: LogoutOptions) => {
        const { client: clientId, postLogoutRedirectUri, backchannelLogoutUri = null } = options;
        const settings = { postLogoutRedirectUris: postLogoutRedirectUri, backchannelLogoutUri };
        await updateClient(services, 'system', clientId, settings);
        return { json: { clientId, ...settings }, lines: [`${clientId} changed.`] };
      }),
    );

  client
    .command('set-openid')
    .description('Set the scopes of OpenID Connect that an application can ask users for')
    .addOption(clientOption())
    .addOption(
      option('--scopes <scopes>', 'comma-separated; none without it', listOf('scope', OPENID_SCOPES)).default([]),
    )
    .action(
      withServices(async (services, { client: clientId, scopes }: { client: string; scopes: string[] }) => {
        await updateClient(services, 'system', clientId, { openidScopes: scopes });
        return { json: { clientId, openidScopes: scopes }, lines: [`${clientId} changed.`] };
      }),
    );

  client
    .command('set-session')
    .description('Set how long sessions last in which users signed in for an application of your own')
    .addOption(clientOption())
    .addOption(
      option(
        '--days <days>',
        'from the sign-in on, if longer than SESSION_DAYS; SESSION_DAYS without it',
        days(DAYS_MAX),
      ),
    )
    .action(
      withServices(async (services, { client: clientId, days: given }: SessionOptions) => {
        const sessionDays = given ?? null;
        await updateClient(services, 'system', clientId, { sessionDays });
        return { json: { clientId, sessionDays }, lines: [`${clientId} changed.`] };
      }),
    );

  client
    .command('delete')
    .description('Delete an OAuth client with its grants and tokens')
    .addOption(clientOption())
    .action(
      withServices(async (services, { client: clientId }: { client: string }) => {
        await deleteClient(services.db, 'system', clientId);
        return { json: { success: true }, lines: [`${clientId} deleted.`] };
      }),
    );
}

const nameOption = (): Option => option('--name <name>', 'name that users see', resourceName);
const redirectUriOption = (): Option =>
  new Option('--redirect-uri <uri>', 'redirect URI; can be repeated').argParser(eachUri);
const homeUrlOption = (): Option => new Option('--home-url <url>', 'start page of the application');
const initiateLoginUriOption = (): Option =>
  new Option(
    '--initiate-login-uri <url>',
    'page of the application that begins a sign-in, where links by email and invitations lead',
  );
const permissionsOption = (): Option =>
  option('--permissions <list>', 'permissions of your product, comma-separated; can be empty', productPermissions);

const clientOption = (): Option => required(new Option('--client <id>', 'the OAuth client'));

function eachUri(uri: string, before: readonly string[] = []): readonly string[] {
  if (before.length === REDIRECT_URIS_MAX)
    throw new InvalidArgumentError(`A client can have at most ${REDIRECT_URIS_MAX} redirect URIs.`);
  return [...before, uri];
}

type Listed = Awaited<ReturnType<typeof listAllClients>>[number];

function toLine({ id, name, source, email, isNative, isConfidential, isFirstParty, redirectUris }: Listed): Line {
  const marks = [
    email ?? source,
    isConfidential ? 'confidential' : 'public',
    ...(isNative ? ['native'] : []),
    ...(isFirstParty ? ['first-party'] : []),
  ];
  return [id, name, `(${marks.join(', ')})`, redirectUris.join(' ') || null];
}
