import type { Command } from 'commander';
import { recordNow } from '../transactions/record-now.ts';
import { countKeyUse, reseal } from '../jobs/reseal.ts';
import { withServices } from './operate.ts';

export function secretsCommands(secrets: Command): void {
  secrets
    .command('reseal')
    .description('Encrypt everything with the first key of SECRET_KEYS, so that the others can be dropped')
    .action(
      withServices(async ({ db, encryption }) => {
        const pool = db.pools.writes;
        const resealed = await reseal(pool, encryption);
        await recordNow(db, 'operator.secrets_resealed', { number: sum(Object.values(resealed)) });
        const { lost } = await countKeyUse(pool, encryption);
        const counts = Object.entries(resealed).map(([name, count]) => `${String(count).padStart(8)}  ${name}`);
        return {
          json: { resealed, lost },
          lines: ['Encrypted again with the first key of SECRET_KEYS:', ...counts],
          ...(lost > 0 && { failure: `${lost} encrypted texts cannot be decrypted with any key of SECRET_KEYS` }),
        };
      }),
    );
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
