import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, globSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../support/free-port.ts';
import { makeDataDir } from '../support/service.ts';
import { createNode, type Node } from './patroni-node.ts';

const [PG_BASEBACKUP] = globSync('/usr/lib/postgresql/*/bin/pg_basebackup').toSorted().toReversed();

export const hasPatroni: boolean =
  PG_BASEBACKUP !== undefined && ['patroni', 'etcd'].every((program) => spawnSync(program, ['--version']).status === 0);

if (!hasPatroni) {
  const advice = 'patroni, etcd or postgresql is missing (apt-get install patroni etcd-server python3-etcd postgresql)';
  if (process.env['CI'] !== undefined) throw new Error(`${advice}; under CI no suite is skipped.`);
  process.stderr.write(`\n*** SKIPPED: the tests of failover. ${advice} ***\n\n`);
}

const PASSWORD = 'only-on-loopback';
const START_MS_MAX = 60_000;
const POLL_MS = 10;

type Member = { readonly name: string; readonly role: string; readonly state: string; readonly lag?: number | string };

export type Patroni = Awaited<ReturnType<typeof startPatroni>>;

/** Three PostgreSQL under Patroni with synchronous replication, and an etcd, all on loopback. */
export async function startPatroni() {
  const directory = makeDataDir();
  const user = serverUser();
  if (user.uid !== undefined) chownSync(directory, user.uid, user.gid ?? user.uid);
  const etcd = await startEtcd(directory, user);
  const host = { directory, user, etcdPort: etcd.port, password: PASSWORD, binDir: join(PG_BASEBACKUP ?? '', '..') };
  const nodes = await Promise.all(['node1', 'node2', 'node3'].map((name) => createNode(host, name)));
  for (const node of nodes) node.start();
  await settle();
  const leader = await findLeader();
  await ask(leader, 'create database roster', 'postgres');

  async function members(): Promise<readonly Member[]> {
    for (const { apiUrl } of nodes) {
      const answer = await fetch(`${apiUrl}/cluster`, { signal: AbortSignal.timeout(1000) }).catch(() => undefined);
      if (answer?.ok === true) return ((await answer.json()) as { members: Member[] }).members;
    }
    return [];
  }

  /** Waits until all nodes replicate, one of them synchronously. */
  async function settle(): Promise<void> {
    const deadline = Date.now() + START_MS_MAX;
    for (let roles = ''; roles !== 'leader,replica,sync_standby'; await sleep(10 * POLL_MS)) {
      if (Date.now() > deadline) {
        const logs = nodes.map((node) => `${node.name}:\n${node.log()}`).join('\n');
        throw new Error(`The nodes do not replicate: ${JSON.stringify(await members())}\n${logs}`);
      }
      const running = (await members()).filter(({ state }) => state === 'running' || state === 'streaming');
      roles = running
        .map(({ role }) => role)
        .toSorted()
        .join(',');
    }
  }

  async function findLeader(): Promise<Node> {
    const name = (await members()).find(({ role }) => role === 'leader')?.name;
    const node = nodes.find((one) => one.name === name);
    if (node === undefined) throw new Error('The cluster has no leader.');
    return node;
  }

  return {
    url: `postgres://postgres:${PASSWORD}@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}/roster?target_session_attrs=read-write`,
    nodes,
    settle,
    leader: findLeader,
    /** Resolves when another node accepts writes. */
    async promoted(former: Node): Promise<Node> {
      for (;;) {
        for (const node of nodes.filter((one) => one !== former))
          if ((await ask(node, 'show transaction_read_only').catch(() => 'on')) === 'off') return node;
        await sleep(POLL_MS);
      }
    },
    async switchover(): Promise<void> {
      const { name, apiUrl } = await findLeader();
      const answer = await fetch(`${apiUrl}/switchover`, { method: 'POST', body: JSON.stringify({ leader: name }) });
      if (!answer.ok) throw new Error(`The switchover failed: ${await answer.text()}`);
    },
    async close(): Promise<void> {
      await Promise.all(nodes.map((node) => node.kill()));
      await Promise.all(nodes.map((node) => node.closeProxies()));
      await etcd.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Runs one statement on one node. @returns the first value */
async function ask({ port }: Node, sql: string, database = 'roster'): Promise<unknown> {
  const client = new pg.Client({
    connectionString: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/${database}`,
    connectionTimeoutMillis: 500,
    query_timeout: 5000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return Object.values(rows[0] ?? {})[0];
  } finally {
    await client.end();
  }
}

/** The user of the PostgreSQL package where root runs the tests. */
function serverUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

async function startEtcd(directory: string, user: { uid?: number; gid?: number }) {
  const [port, peerPort] = [await freePort(), await freePort()];
  const [url, peerUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const flags = {
    'data-dir': join(directory, 'etcd'),
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peerUrl,
    'initial-advertise-peer-urls': peerUrl,
    'initial-cluster': `default=${peerUrl}`,
  };
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const etcd = spawn('etcd', [...args, '--enable-v2'], { ...user, cwd: directory, stdio: 'ignore' });
  process.once('exit', () => etcd.kill('SIGKILL'));
  const isHealthy = () =>
    fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isHealthy())) await sleep(POLL_MS);
  return {
    port,
    async stop(): Promise<void> {
      const exited = once(etcd, 'exit');
      etcd.kill('SIGKILL');
      await exited;
    },
  };
}
