import { setTimeout as sleep } from 'node:timers/promises';
import { getClusterPath, ensureCluster, readPassword } from './cluster.ts';
import { describeFailure } from './damage.ts';
import { EmbeddedError, prepareHome } from './home.ts';
import { type Hold, joinHolders } from './life-line.ts';
import { login, createDatabaseUrl } from './login.ts';
import { packagedPrograms, preparePrograms } from './programs.ts';
import {
  adopt,
  isServerOf,
  type Launch,
  launch,
  type LaunchOptions,
  recordedServer,
  type Started,
  watchCrashes,
} from './server.ts';
import { startOnWindows } from './windows.ts';
import { SECOND_MS } from '../time.ts';

const POLL_MILLISECONDS = 5;
// A crash under heavy writes is followed by a recovery that reads up to a gigabyte of log.
const START_SECONDS_MAX = 120;
const STOP_SECONDS_MAX = 30;

// Errors of a server that lost a concurrent start, or that follows a killed server with running children. Retry.
const TRANSIENT = /postmaster\.pid" (already exists|is empty)|still in use|could not create any TCP\/IP sockets/;

const UNSAFE_BUT_FAST = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off'];

export type EmbeddedOptions = {
  dataDir: string;
  /** More settings, as `name=value`. Ignored if the server is already running. */
  flags?: readonly string[];
  /** False for tests only: a crash of the machine can lose the database. */
  durable?: boolean;
};

export type Embedded = {
  url: string;
  created: boolean;
  /** Returns why the server crashed since it was started or joined here, as its log says. It then recovers, or tries to. */
  crashReason(): string | undefined;
  close(): Promise<void>;
};

/** Starts or joins the PostgreSQL server of a data directory. The server stops after the last process that uses it. */
export async function startEmbedded({ dataDir, flags = [], durable = true }: EmbeddedOptions): Promise<Embedded> {
  takeNothingFromEnvironment();
  // First, so that a container image without PostgreSQL gets the error about the missing package.
  const packaged = packagedPrograms();
  const home = prepareHome(dataDir);
  const programs = preparePrograms(home, packaged);
  const created = await ensureCluster(home, programs, durable);
  const options = { home, programs, flags: durable ? flags : [...UNSAFE_BUT_FAST, ...flags] };
  const started = await (process.platform === 'win32' ? startOnWindows(options) : startOrJoin(options));
  const url = createDatabaseUrl({ port: started.port, password: readPassword(home) });
  const crashReason = watchCrashes(home);
  return { url, created, crashReason, close: () => started.close() };
}

/** Variables of libpq are about another server: pg, and whatever else connects in this process, would use them here. */
function takeNothingFromEnvironment(): void {
  for (const name of Object.keys(process.env)) if (/^PG[A-Z_]+$/.test(name)) delete process.env[name];
}

// No lock file, which a killed process could leave behind. If several servers start concurrently, PostgreSQL lets
// only one run, and the other processes join it.
async function startOrJoin(options: LaunchOptions): Promise<Started> {
  const cluster = getClusterPath(options.home);
  const password = readPassword(options.home);
  const adopted = new Set<number>();
  let attempt: Launch | undefined;
  try {
    for (
      const deadline = Date.now() + START_SECONDS_MAX * SECOND_MS;
      Date.now() < deadline;
      await sleep(POLL_MILLISECONDS)
    ) {
      const server = recordedServer(cluster);
      if (!server || !isServerOf(cluster, server.pid)) {
        attempt = await retryLaunch(attempt, options);
        continue;
      }
      const lifeLine = server.isReady ? await login({ port: server.port, password }) : undefined;
      if (lifeLine === undefined) continue;

      const hold = lifeLine === attempt?.lifeLine ? attempt.hold : joinHolders(lifeLine);
      if (hold === 'unwatched' && !adopted.has(server.pid)) {
        adopt(options.home, lifeLine, server.pid);
        adopted.add(server.pid);
      }
      if (typeof hold === 'string') continue;
      if (hold === attempt?.hold) attempt = undefined;
      return { port: server.port, close: () => close(cluster, server.pid, hold) };
    }
    throw new EmbeddedError(
      `DATA_DIR: the embedded PostgreSQL in ${cluster} was not ready after ${START_SECONDS_MAX} seconds: see server.log next to it.`,
    );
  } finally {
    attempt?.hold.release();
  }
}

async function retryLaunch(attempt: Launch | undefined, options: LaunchOptions): Promise<Launch> {
  if (!attempt) return launch(options);
  const failure = attempt.failure();
  if (failure === undefined) return attempt;
  attempt.hold.release();
  if (!TRANSIENT.test(failure))
    throw new EmbeddedError(describeFailure(failure, options.home, getClusterPath(options.home)));
  await sleep(10 * POLL_MILLISECONDS);
  return launch(options);
}

async function close(cluster: string, pid: number, hold: Hold): Promise<void> {
  hold.release();
  const deadline = Date.now() + STOP_SECONDS_MAX * SECOND_MS;
  while (Date.now() < deadline && isServerOf(cluster, pid) && !hold.isHeldByOthers()) await sleep(POLL_MILLISECONDS);
}
