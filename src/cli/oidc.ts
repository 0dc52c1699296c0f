import type { Command } from 'commander';
import { rotateKeys } from '../resources/openid/signing-keys.ts';
import { withServices } from './operate.ts';

export function oidcCommands(oidc: Command): void {
  oidc
    .command('rotate-keys')
    .description('Sign id tokens with a new key. The two before it stay published')
    .action(
      withServices(async (services) => {
        const keys = await rotateKeys(services);
        return { json: { keys }, lines: [`${keys[0]} signs from now on. Published: ${keys.join(', ')}.`] };
      }),
    );
}
