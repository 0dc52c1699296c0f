import { request, type Agent } from 'node:http';
import { expect, onTestFinished } from 'vitest';
import { startApi, type Api } from '../support/api.ts';
import { startRedis } from '../support/redis.ts';
import { makeDataDir, removeDataDir, startService, type Service } from '../support/service.ts';
import { PATIENCE_MS } from '../support/patience.ts';

export const SECRET_KEYS = 'test-key-test-key-test-key-test-key';
export const BOUND = { interval: 20, timeout: PATIENCE_MS };

export type Line = { readonly msg: string; readonly pid: number; readonly worker?: number } & Readonly<
  Record<string, unknown>
>;

export const linesOf = ({ lines }: Pick<Service, 'lines'>): Line[] =>
  lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Line); // pino writes an object a line

/** The process ids of each worker that has listened, in order. */
export const pidsOf = (service: Service, worker: number): number[] =>
  linesOf(service).flatMap((line) => (line.msg === 'listening' && line.worker === worker ? [line.pid] : []));

export const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

export async function aDataDir(): Promise<string> {
  const dataDir = makeDataDir();
  onTestFinished(() => removeDataDir(dataDir));
  return dataDir;
}

export async function aRedis(): Promise<string> {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  return redis.url;
}

export async function aDatabase(): Promise<Api> {
  const database = await startApi();
  onTestFinished(() => database.close());
  return database;
}

/** A service of two workers, which both listen. */
export async function twoWorkers(env: Record<string, string> = {}, dataDir?: string): Promise<Service> {
  const service = await startService({
    dataDir: dataDir ?? (await aDataDir()),
    env: { WORKERS: '2', REDIS_URL: await aRedis(), RATE_LIMIT: '1000000', TEAM_LIMIT: '1000000', ...env },
  });
  onTestFinished(async () => {
    service.kill('SIGTERM');
    await service.exited;
  });
  await expect.poll(() => [pidsOf(service, 1).length, pidsOf(service, 2).length], BOUND).toEqual([1, 1]);
  await expect.poll(() => linesOf(service).some(({ msg }) => msg === 'all workers listening'), BOUND).toBe(true);
  return service;
}

export const ofDatabase = ({ databaseUrl }: Api) => ({ DATABASE_URL: databaseUrl, SECRET_KEYS });

/** The error of a request that was not answered in time. */
export const NO_ANSWER = 'There was no answer.';
const ANSWER_MS_MAX = 5000;

/** The status of a request with its own id, over a new connection unless an agent is given. */
export const get = (
  { port }: Service,
  secret: string,
  requestId: string,
  agent: Agent | false = false,
): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${secret}`, 'x-request-id': requestId };
    const sent = request({ host: '127.0.0.1', port, path: '/api/v1/teams', agent, headers }, (res) => {
      res
        .resume()
        .on('end', () => resolve(res.statusCode ?? 0))
        .on('error', reject);
    });
    sent
      .on('error', reject)
      .setTimeout(ANSWER_MS_MAX, () => sent.destroy(new Error(NO_ANSWER)))
      .end();
  });
