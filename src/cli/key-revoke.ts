import type { Command } from 'commander';
import { revokeKeyAsOperator } from '../resources/api-keys/revocation.service.ts';
import { withServices } from './operate.ts';

export function keyRevokeCommand(key: Command): void {
  key
    .command('revoke')
    .description('Revoke an API key immediately')
    .requiredOption('--key <id>', 'the API key')
    .action(
      withServices(async ({ db }, { key: keyId }: { key: string }) => {
        await revokeKeyAsOperator(db, keyId);
        return { json: { success: true }, text: `API key ${keyId} revoked.` };
      }),
    );
}
