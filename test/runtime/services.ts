import { onTestFinished } from 'vitest';
import { createClient } from '../support/client.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { makeDataDir, removeDataDir, startService, type Service } from '../support/service.ts';

export const ROOMY = { RATE_LIMIT: '1000000', TEAM_LIMIT: '1000000' };
export const BOUND = { interval: 5, timeout: PATIENCE_MS };

export function aDataDir(): string {
  const dataDir = makeDataDir();
  onTestFinished(() => removeDataDir(dataDir));
  return dataDir;
}

/** The service, ready; it ends before its data directory is removed. */
export async function aService(dataDir: string, env: Record<string, string> = {}): Promise<Service> {
  const service = await startService({ dataDir, env });
  onTestFinished(async () => {
    service.kill('SIGKILL');
    await service.exited;
  });
  return service;
}

export function clientOf({ port }: Service) {
  const client = createClient(port, undefined);
  onTestFinished(() => client.close());
  return client;
}

export async function ended(service: Service, signal: NodeJS.Signals) {
  service.kill(signal);
  return service.exited;
}

/** The demo key with all scopes. */
export function demoSecret({ lines }: Service): string {
  const [, secret] = /all scopes\s+(rst_pk_\w+)/.exec(lines.join('\n')) ?? [];
  if (secret === undefined) throw new Error('No demo key was printed.');
  return secret;
}
