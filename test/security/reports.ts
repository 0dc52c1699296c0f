import { createHash } from 'node:crypto';
import type { Api } from '../support/api.ts';

/** The SHA-256 of a secret, as GitHub is told of it. */
export const hashes = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** What the API answers to a credential. */
export const statusOf = async (api: Api, secret: string): Promise<number> =>
  (await api.as(secret).get('/api/v1/credential')).status;
