import type { IncomingMessage } from 'node:http';
import { createHash } from 'node:crypto';
import { ProblemError } from '../errors.ts';
import type { Reply } from '../http/reply.ts';

/** The OpenAPI document as it is served. */
export type OpenApiDocument = { reply(req: IncomingMessage): Promise<Reply> };

/** Serves the document with a strong ETag; clients revalidate it each time. @param generate called once, when it is asked for */
export function serveDocument(generate: () => Promise<unknown>): OpenApiDocument {
  const serialize = async () => {
    const body = Buffer.from(JSON.stringify(await generate()));
    const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
    return { body, etag, shared: { cacheControl: 'public, no-cache', headers: ['ETag', etag] } };
  };
  let serialized: ReturnType<typeof serialize> | undefined;

  return {
    async reply({ method, headers }) {
      if (method !== 'GET' && method !== 'HEAD')
        throw new ProblemError('method_not_allowed', undefined, { allow: 'GET, HEAD, OPTIONS' });
      const { body, etag, shared } = await (serialized ??= serialize());
      return matchesETag(headers['if-none-match'], etag)
        ? { ...shared, status: 304, body: undefined }
        : { ...shared, status: 200, contentType: 'application/json', body };
    },
  };
}

const matchesETag = (sent: string | undefined, etag: string): boolean =>
  sent !== undefined && (sent.trim() === '*' || sent.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag));
