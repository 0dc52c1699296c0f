import { forgetPeak, peakMegabytes, residentMegabytes } from './proc.ts';
import { answerTo, byKey, type RequestName } from './requests.ts';
import type { Server } from './servers.ts';
import type { Stage } from './stage.ts';
import { markdown } from './table.ts';

const AT_ONCE = 20;

export type ListRun = {
  readonly title: string;
  readonly entries: number;
  readonly megabytes: number;
  /** Of one such list alone, and until the last of all is there. */
  readonly aloneMs: number;
  readonly allMs: number;
  readonly grownMegabytes: number;
};

/** Lists that are as long as they get, many at once: how far the memory of the server grows. */
export async function measureLists(stage: Stage): Promise<ListRun[]> {
  const { callers, giant } = await stage.fillDatabase('roster', 'small');
  const runs: ListRun[] = [];
  for (const [request, title] of [
    ['members', 'a team with 10,000 members'],
    ['teams', 'an account with 2,000 teams'],
  ] as const) {
    // A process of its own for each, because memory that has once been taken is seldom given back.
    const server = await stage.start('roster', 'roster');
    const [caller = giant] = callers;
    for (let i = 0; i < 500; i++) await ask(server, request, caller);
    runs.push({ title, ...(await listAtOnce(server, request, giant)) });
  }
  return runs;
}

async function listAtOnce(server: Server, request: RequestName, giant: Parameters<typeof byKey>[1]) {
  const [text, aloneMs] = await timed(() => ask(server, request, giant));
  const before = residentMegabytes(server.pid);
  forgetPeak(server.pid);
  const [, allMs] = await timed(() => Promise.all(Array.from({ length: AT_ONCE }, () => ask(server, request, giant))));
  return {
    entries: (JSON.parse(text) as unknown[]).length, // a list, which is what was asked for
    megabytes: Buffer.byteLength(text) / 1024 / 1024,
    aloneMs,
    allMs,
    grownMegabytes: peakMegabytes(server.pid) - before,
  };
}

function ask(server: Server, request: RequestName, caller: Parameters<typeof byKey>[1]): Promise<string> {
  const sent = byKey(request, caller);
  if (sent === undefined) throw new Error(`Roster has no ${request}.`);
  return answerTo(server.url, sent);
}

async function timed<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const startedAt = performance.now();
  return [await work(), performance.now() - startedAt];
}

export const listTable = (runs: readonly ListRun[]): string =>
  markdown([
    ['list', 'entries', 'MB each', 'one alone, ms', `${AT_ONCE} at once, ms`, 'peak memory grows by, MB'],
    ...runs.map(({ title, entries, megabytes, aloneMs, allMs, grownMegabytes }) => [
      title,
      String(entries),
      megabytes.toFixed(2),
      aloneMs.toFixed(0),
      allMs.toFixed(0),
      grownMegabytes.toFixed(0),
    ]),
  ]);
