import { measure, type Measured } from './measure.ts';
import type { Options } from './options.ts';
import { byKey } from './requests.ts';
import type { Server } from './servers.ts';
import type { Stage } from './stage.ts';

/** Roster in one process and in several, on one PostgreSQL and one Redis, the load spread over them. */
export async function compareWorkers(stage: Stage, options: Options): Promise<Measured[]> {
  const { callers } = await stage.fillDatabase('roster', options.data);
  const servers: Server[] = [];
  while (servers.length < Math.max(...options.workers)) servers.push(await stage.start('roster', 'roster'));
  const contenders = options.workers.map((count) => ({
    name: `${count} workers`,
    servers: servers.slice(0, count),
    callers,
    dialect: byKey,
  }));
  const measured: Measured[] = [];
  for (const request of options.only) measured.push(...(await measure(stage, request, contenders, options)));
  return measured;
}
