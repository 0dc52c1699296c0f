import { hash, verify, type KeyObject } from 'node:crypto';
import type { RequestHandler } from 'express';
import { z } from 'zod';
import type { Services } from '../service/services.ts';
import { ProblemError } from '../problems/error.ts';
import { isStorable } from '../procedures/fields.ts';
import { refundAttempt, type AttemptLimit } from '../rate-limit/attempts.ts';
import { revokeLeaked } from '../resources/leaked-secrets/leaked-secrets.service.ts';
import { parseJson, readBytes } from '../rest/body.ts';

const BODY_BYTES_MAX = 4 * 1024 * 1024;

/** Bounds the work of one request, which GitHub expects to be answered in 30 seconds. */
const TOKENS_MAX = 5000;

const URL_LENGTH_MAX = 500;

const report = z.array(z.object({ token: z.string(), type: z.string().default(''), url: z.string().default('') }));

/**
 * Creates the handler of GitHub's secret scanning partner program. It tells which tokens are known only to requests
 * that one of the keys signed.
 */
export const createGitHubHandler =
  (services: Services, keys: ReadonlyMap<string, KeyObject>): RequestHandler =>
  async (req, res) => {
    const bytes = await readBytes(req, BODY_BYTES_MAX);
    const key = keys.get(String(req.headers['github-public-key-identifier'] ?? ''));
    const signature = Buffer.from(String(req.headers['github-public-key-signature'] ?? ''), 'base64');
    if (key === undefined || !verify('sha256', bytes, key, signature)) throw new ProblemError('signature_invalid');
    // Signed reports are not limited: they are proof that a secret leaked.
    await refundAttempt(res.locals['leakLimit'] as AttemptLimit); // set by the router

    const parsed = report.safeParse(parseJson(bytes));
    if (!parsed.success) throw new ProblemError('validation_failed', 'The body must be an array of tokens.');
    if (parsed.data.length > TOKENS_MAX)
      throw new ProblemError('body_too_large', `The body has more than ${TOKENS_MAX} tokens.`);
    const known = await revokeLeaked(
      services,
      parsed.data.map(({ token, url }) => ({ secret: token, leak: 'github', foundAt: toPlace(url) })),
    );
    res.json(
      parsed.data.map(({ token, type }, i) => ({
        token_hash: hash('sha256', token),
        token_type: type,
        label: known[i] === true ? 'true_positive' : 'false_positive',
      })),
    );
  };

const toPlace = (url: string): string | null =>
  URL.canParse(url) && isStorable(url) && url.length <= URL_LENGTH_MAX ? url : null;
