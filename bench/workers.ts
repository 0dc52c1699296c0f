import { setTimeout as sleep } from 'node:timers/promises';
import { measure, type Contender, type Measured } from './measure.ts';
import type { Options } from './options.ts';
import { familyOf } from './proc.ts';
import { byKey } from './requests.ts';
import type { Stage } from './stage.ts';

/** Roster with one worker and with several on one port, on one PostgreSQL and one Redis. */
export async function compareWorkers(stage: Stage, options: Options): Promise<Measured[]> {
  const { callers } = await stage.fillDatabase('roster', options.data);
  const contenders: Contender[] = [];
  for (const workers of options.workers) {
    const server = await stage.start('roster', 'roster', { WORKERS: String(workers) });
    while (workers > 1 && familyOf(server.pid).length <= workers) await sleep(100);
    contenders.push({ name: `${workers} workers`, servers: [server], callers, dialect: byKey, workers });
  }
  const measured: Measured[] = [];
  for (const request of options.only) measured.push(...(await measure(stage, request, contenders, options)));
  return measured;
}
