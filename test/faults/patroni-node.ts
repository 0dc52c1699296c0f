import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProxy } from '../jobs/proxy.ts';
import { freePort } from '../support/free-port.ts';
import { childrenOf } from './postgres.ts';

/** Where the programs of the cluster are, and which user runs them, because PostgreSQL does not run as root. */
export type Host = {
  readonly directory: string;
  readonly binDir: string;
  readonly password: string;
  readonly etcdPort: number;
  readonly user: { readonly uid?: number; readonly gid?: number };
};

export type Node = Awaited<ReturnType<typeof createNode>>;

const LOG_LINES = 30;

/** Short, so that a failover takes seconds. */
const DCS = { ttl: 5, loop_wait: 1, retry_timeout: 2, synchronous_mode: true };

/**
 * One Patroni with its PostgreSQL. The others and etcd are reached, and reach it, through proxies, so that it can be
 * cut off from them while its clients still reach it.
 */
export async function createNode(host: Host, name: string) {
  const [port, apiPort] = [await freePort(), await freePort()];
  const proxies = await Promise.all(
    [port, apiPort, host.etcdPort].map((to) => startProxy({ host: '127.0.0.1', port: to })),
  );
  const [pgProxy, apiProxy, etcdProxy] = proxies.map((proxy) => `127.0.0.1:${proxy.port}`);
  const dataDir = join(host.directory, name);
  const configFile = join(host.directory, `${name}.yml`);
  const logFile = join(host.directory, `${name}.log`);
  writeFileSync(
    configFile,
    // YAML contains JSON.
    JSON.stringify({
      scope: 'roster',
      name,
      restapi: { listen: `127.0.0.1:${apiPort}`, connect_address: apiProxy },
      // Version 2 of the API, where a leader renews its key only if it still holds it. With version 3, Patroni 3.0 takes
      // the key from its successor if it goes on after a stop, and the cluster loses what the successor committed.
      etcd: { hosts: [etcdProxy], use_proxies: true },
      bootstrap: {
        dcs: { ...DCS, postgresql: { use_pg_rewind: true, parameters: { max_connections: 100 } } },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }],
      },
      postgresql: {
        listen: `127.0.0.1:${port}`,
        connect_address: pgProxy,
        data_dir: dataDir,
        bin_dir: host.binDir,
        pgpass: join(host.directory, `${name}.pgpass`),
        authentication: {
          superuser: { username: 'postgres', password: host.password },
          replication: { username: 'standby', password: host.password },
        },
        parameters: { unix_socket_directories: '' },
        pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication standby 127.0.0.1/32 scram-sha-256'],
      },
    }),
  );
  let patroni: ChildProcess | undefined;
  process.once('exit', () => signalAll('SIGKILL'));

  function pids(): number[] {
    const pidFile = join(dataDir, 'postmaster.pid');
    const postmaster = existsSync(pidFile) ? Number.parseInt(readFileSync(pidFile, 'utf8')) : 0;
    // Those that start others come first, so that none is missed.
    return [patroni?.pid ?? 0, postmaster, ...(postmaster > 0 ? childrenOf(postmaster) : [])].filter((pid) => pid > 0);
  }

  function signalAll(signal: NodeJS.Signals, to = pids()): number[] {
    for (const pid of to) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended.
      }
    }
    return to;
  }

  return {
    name,
    port,
    apiUrl: `http://127.0.0.1:${apiPort}`,
    start(): void {
      const log = openSync(logFile, 'a');
      patroni = spawn('patroni', [configFile], { ...host.user, cwd: host.directory, stdio: ['ignore', log, log] });
      closeSync(log);
    },
    /** Ends all its processes, as a power failure does. */
    async kill(): Promise<void> {
      const killed = signalAll('SIGKILL');
      if (patroni !== undefined && patroni.exitCode === null && patroni.signalCode === null)
        await once(patroni, 'exit');
      while (killed.some((pid) => existsSync(`/proc/${pid}`))) await sleep(5);
      patroni = undefined;
    },
    /** Stops all its processes. @returns what lets them go on */
    freeze(): () => void {
      const frozen = signalAll('SIGSTOP');
      return () => void signalAll('SIGCONT', frozen.toReversed());
    },
    /** Cuts it off from the other nodes and from etcd. @returns what connects it again */
    async isolate(): Promise<() => Promise<void>> {
      await Promise.all(proxies.map((proxy) => proxy.cut()));
      return async () => void (await Promise.all(proxies.map((proxy) => proxy.mend())));
    },
    /** The end of its log. */
    log: (): string => readFileSync(logFile, 'utf8').split('\n').slice(-LOG_LINES).join('\n'),
    closeProxies: () => Promise.all(proxies.map((proxy) => proxy.cut())),
  };
}
