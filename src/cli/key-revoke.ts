import type { Command } from 'commander';
import { revokeKey } from '../resources/api-keys/revocation.service.ts';
import { withServices } from './operate.ts';

export function keyRevokeCommand(key: Command): void {
  key
    .command('revoke')
    .description('Revoke an API key immediately')
    .requiredOption('--key <id>', 'the API key')
    .action(
      withServices(async ({ db }, { key: keyId }: { key: string }) => {
        await revokeKey(db, 'system', keyId);
        return { json: { success: true }, lines: [`API key ${keyId} revoked.`] };
      }),
    );
}
