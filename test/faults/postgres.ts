import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbedded } from '../../src/embedded-postgres/start.ts';
import { isServerOf, recordedServer } from '../../src/embedded-postgres/server.ts';
import { freePort } from '../support/free-port.ts';
import { makeDataDir, removeDataDir } from '../support/service.ts';

export type Postgres = Awaited<ReturnType<typeof startPostgres>>;

/** A PostgreSQL of one's own, durable, that can be stopped and comes back where it was. */
export async function startPostgres(flags: readonly string[] = []) {
  const dataDir = makeDataDir();
  const port = await freePort();
  const start = () => startEmbedded({ dataDir, flags: [`port=${port}`, ...flags] });
  let server = await start();
  const cluster = join(realpathSync(join(dataDir, 'postgres')), 'data');

  function pidOf(): number {
    const { pid } = recordedServer(cluster) ?? {};
    if (pid === undefined) throw new Error('There is no PostgreSQL to stop.');
    return pid;
  }

  return {
    url: server.url,
    /** Its data directory. */
    directory: cluster,
    /** SIGINT ends what is under way and the server in order, SIGQUIT at once, as in a crash. */
    async stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
      const pid = pidOf();
      process.kill(pid, signal);
      while (isServerOf(cluster, pid)) await sleep(5);
      await server.close();
    },
    async start(): Promise<void> {
      server = await start();
    },
    /** Nothing of it moves until `resume`: the connections stay open and nobody answers. */
    stall(): () => void {
      const pid = pidOf();
      // First the one that makes the others, so that none is missed.
      process.kill(pid, 'SIGSTOP');
      const children = childrenOf(pid);
      for (const child of children) process.kill(child, 'SIGSTOP');
      return () => {
        for (const stopped of [...children, pid]) process.kill(stopped, 'SIGCONT');
      };
    },
    async close(): Promise<void> {
      await server.close();
      await removeDataDir(dataDir);
    },
  };
}

export function childrenOf(pid: number): number[] {
  const processes = execFileSync('ps', ['-A', '-o', 'pid=', '-o', 'ppid='], { encoding: 'utf8' });
  return processes
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []));
}
