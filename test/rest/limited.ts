import { onTestFinished } from 'vitest';
import { startApi, type Api } from '../support/api.ts';
import type { Answer } from '../support/client.ts';

export const LIMITED = { RATE_LIMIT: '5' };

export async function anApi(settings: Record<string, string> = LIMITED): Promise<Api> {
  const api = await startApi(settings);
  onTestFinished(() => api.close());
  return api;
}

export const times = <Result>(count: number, call: (turn: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, turn) => call(turn)));

export const remaining = ({ headers }: Answer): number => Number(headers['ratelimit-remaining']);
export const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status);
export const countOf = (answers: readonly Answer[], status: number): number =>
  answers.filter((answer) => answer.status === status).length;

/** A personal key with every scope these tests need. */
export const aKey = async (api: Api) => api.anApiKey(await api.anAccount(), { scopes: ['teams:read', 'teams:write'] });
