import { InvalidArgumentError, Option, type Command } from 'commander';
import { listAllClients } from '../resources/oauth-clients/oauth-clients.queries.ts';
import { clientName, OVERLAP_HOURS_MAX, REDIRECT_URIS_MAX } from '../resources/oauth-clients/oauth-clients.schema.ts';
import { createClient, deleteClient, rotateSecret } from '../resources/oauth-clients/oauth-clients.service.ts';
import { withServices } from './operate.ts';
import { createParser, hours, option, required } from './options.ts';

type CreateOptions = { name: string; redirectUri: string[]; confidential?: true; native?: true };

const ONCE = 'The secret is shown only once.';

export function oauthClientCommands(client: Command): void {
  client
    .command('create')
    .description('Create an OAuth client of this instance (ignores CLIENT_LIMIT)')
    .addOption(
      required(
        option(
          '--name <name>',
          'name on the consent page',
          createParser(
            clientName,
            'It must have 1 to 100 characters, at least one of them visible and no control characters.',
          ),
        ),
      ),
    )
    .addOption(required(new Option('--redirect-uri <uri>', 'redirect URI; can be repeated').argParser(eachUri)))
    .option('--confidential', 'the client runs on a server and has a secret')
    .option('--native', 'the client runs on user devices: loopback and private-use redirect URIs')
    .action(
      withServices(async (services, { name, redirectUri, confidential, native }: CreateOptions) => {
        const { clientId, clientSecret } = await createClient(services, undefined, {
          name,
          redirectUris: redirectUri,
          isNative: native ?? false,
          isConfidential: confidential ?? false,
        });
        return clientSecret === null
          ? { json: { clientId }, text: `${clientId}  ${name}` }
          : { json: { clientId, clientSecret }, text: `${clientId}  ${name}\n${clientSecret}\n${ONCE}` };
      }),
    );

  client
    .command('list')
    .description('List all OAuth clients, oldest first')
    .action(
      withServices(async ({ db }) => {
        const clients = await listAllClients(db);
        return { json: clients, text: clients.map(line).join('\n') || 'There are no OAuth clients.' };
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
        const clientSecret = await rotateSecret(services, undefined, clientId, overlapHours);
        return { json: { clientId, clientSecret }, text: `${clientId}\n${clientSecret}\n${ONCE}` };
      }),
    );

  client
    .command('delete')
    .description('Delete an OAuth client with its grants and tokens')
    .addOption(clientOption())
    .action(
      withServices(async (services, { client: clientId }: { client: string }) => {
        await deleteClient(services, undefined, clientId);
        return { json: { success: true }, text: `${clientId} deleted.` };
      }),
    );
}

const clientOption = (): Option => required(new Option('--client <id>', 'the OAuth client'));

function eachUri(uri: string, before: readonly string[] = []): readonly string[] {
  if (before.length === REDIRECT_URIS_MAX)
    throw new InvalidArgumentError(`A client can have at most ${REDIRECT_URIS_MAX} redirect URIs.`);
  return [...before, uri];
}

type Listed = Awaited<ReturnType<typeof listAllClients>>[number];

function line({ id, name, source, email, isNative, isConfidential, redirectUris }: Listed): string {
  const marks = [email ?? source, isConfidential ? 'confidential' : 'public', ...(isNative ? ['native'] : [])];
  return `${id}  ${name}  (${marks.join(', ')})  ${redirectUris.join(' ')}`.trimEnd();
}
