import type { IncomingMessage } from 'node:http';
import { createHash } from 'node:crypto';
import { ProblemError } from '../errors.ts';
import type { Reply } from '../http/reply.ts';

/** The OpenAPI document as it is served. */
export type OpenApiDocument = { reply(req: IncomingMessage): Reply };

/** Serves the document with a strong ETag; clients revalidate it each time. */
export function serveDocument(document: unknown): OpenApiDocument {
  const body = Buffer.from(JSON.stringify(document));
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  const shared = { cacheControl: 'public, no-cache', headers: ['ETag', etag] };

  return {
    reply({ method, headers }) {
      if (method !== 'GET' && method !== 'HEAD')
        throw new ProblemError('method_not_allowed', undefined, { allow: 'GET, HEAD, OPTIONS' });
      return matchesETag(headers['if-none-match'], etag)
        ? { ...shared, status: 304, body: undefined }
        : { ...shared, status: 200, contentType: 'application/json', body };
    },
  };
}

const matchesETag = (sent: string | undefined, etag: string): boolean =>
  sent !== undefined && (sent.trim() === '*' || sent.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag));
