import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { hasRedis } from '../test/support/redis.ts';
import { compareServers } from './comparison.ts';
import { consoleTable, measureConsole } from './console.ts';
import { deleteTable, measureDeletes } from './deletes.ts';
import { largeTable, measureLarge } from './large.ts';
import { listTable, measureLists } from './lists.ts';
import { measureNeighbours, neighbourTable } from './neighbours.ts';
import { HELP, readOptions, type Options } from './options.ts';
import { installPackages } from './packages.ts';
import { comparePermissions } from './permissions.ts';
import { comparePoolers } from './poolers.ts';
import { openStage, type Stage } from './stage.ts';
import { details, ratiosToFirst, ratios, scaling, sizeRatios } from './table.ts';
import { measureTenMillion, tenMillionTable } from './ten-million.ts';
import { compareWorkers } from './workers.ts';

const report = (line: string) => void process.stderr.write(`${line}\n`);

await main().catch((error: unknown) => {
  report(`bench: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options === 'help') {
    process.stdout.write(HELP);
    return;
  }
  if (!hasRedis) throw new Error('redis-server is needed.');
  installPackages();
  if (options.large) {
    const results = [];
    for (const postgres of options.postgres)
      results.push(
        ...(await onStage({ pin: options.pin, postgres }, (stage) => measureLarge(stage, postgres, options, report))),
      );
    print(options, { table: largeTable(results), results });
    return;
  }
  if (options.neighbours) {
    const results = [];
    for (const postgres of options.postgres)
      results.push(
        ...(await onStage({ pin: options.pin, postgres }, (stage) =>
          measureNeighbours(stage, postgres, options, report),
        )),
      );
    print(options, { table: neighbourTable(results), results });
    return;
  }
  print(options, await onStage({ pin: options.pin, folder: options.folder }, (stage) => perform(stage, options)));
}

async function onStage<Result>(
  of: Parameters<typeof openStage>[0],
  work: (stage: Stage) => Promise<Result>,
): Promise<Result> {
  const stage = await openStage(of);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void stage.close().finally(() => process.exit(1)));
  }
  try {
    return await work(stage);
  } finally {
    await stage.close();
  }
}

function print(options: Options, { table, results }: { table: string; results: unknown }): void {
  process.stdout.write(table);
  if (options.json === undefined) return;
  const machine = { cores: cpus().length, cpu: cpus()[0]?.model, node: process.version };
  writeFileSync(options.json, `${JSON.stringify({ at: new Date(), machine, options, results }, null, 2)}\n`);
}

async function perform(stage: Stage, options: Options): Promise<{ table: string; results: unknown }> {
  if (options.console) {
    const results = await measureConsole(stage, options.runs, report);
    return { table: consoleTable(results), results };
  }
  if (options.lists) {
    const results = await measureLists(stage);
    return { table: listTable(results), results };
  }
  if (options.tenMillion) {
    const results = await measureTenMillion(stage, options, report);
    return { table: tenMillionTable(results), results };
  }
  if (options.deletes) {
    const results = await measureDeletes(stage);
    return { table: deleteTable(results), results };
  }
  if (options.poolers) {
    const results = await comparePoolers(stage, options);
    return { table: `${ratiosToFirst(results)}\n${details(results)}`, results };
  }
  if (options.permissions) {
    const results = await comparePermissions(stage, options);
    return { table: `${ratiosToFirst(results)}\n${details(results)}`, results };
  }
  if (options.workers.length > 0) {
    const results = await compareWorkers(stage, options);
    return { table: scaling(results), results };
  }
  const results = await compareServers(stage, options, report);
  const summary = options.data === 'large' ? sizeRatios(results) : ratios(results);
  return { table: `${summary}\n${details(results)}`, results };
}
