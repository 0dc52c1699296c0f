import type { Command } from 'commander';
import { countKeyUse, reseal } from '../jobs/reseal.ts';
import { withServices } from './operate.ts';

export function secretsCommands(secrets: Command): void {
  secrets
    .command('reseal')
    .description('Encrypt everything with the first key of SECRET_KEYS, so that the others can be dropped')
    .action(
      withServices(async ({ db: { pool }, encryption }) => {
        const resealed = await reseal(pool, encryption);
        const { lost } = await countKeyUse(pool, encryption);
        const text = Object.entries(resealed).map(([name, count]) => `${String(count).padStart(8)}  ${name}`);
        return {
          json: { resealed, lost },
          text: ['Encrypted again with the first key of SECRET_KEYS:', ...text].join('\n'),
          ...(lost > 0 && { failure: `${lost} encrypted texts cannot be decrypted with any key of SECRET_KEYS` }),
        };
      }),
    );
}
