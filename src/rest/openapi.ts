import type { IncomingMessage } from 'node:http';
import { createHash } from 'node:crypto';
import { ProblemError } from '../problems/error.ts';
import { createEncodedText } from '../http/compression.ts';
import type { Reply } from '../http/reply.ts';

/** The OpenAPI document as it is served. */
export type OpenApiDocument = { reply(req: IncomingMessage): Promise<Reply> };

/**
 * Serves the document in the content coding that the client accepts, with a strong ETag of each; clients revalidate it
 * each time.
 * @param generate called once, when it is asked for
 */
export function serveDocument(generate: () => Promise<unknown>): OpenApiDocument {
  const serialize = async () => {
    const text = Buffer.from(JSON.stringify(await generate()));
    return { encode: createEncodedText(text), hash: createHash('sha256').update(text).digest('base64url') };
  };
  let serialized: ReturnType<typeof serialize> | undefined;

  return {
    async reply({ method, headers }) {
      if (method !== 'GET' && method !== 'HEAD')
        throw new ProblemError('method_not_allowed', undefined, { allow: 'GET, HEAD, OPTIONS' });
      const { encode, hash } = await (serialized ??= serialize());
      const { body, encoding } = await encode(headers['accept-encoding']);
      const etag = encoding === undefined ? `"${hash}"` : `"${hash}-${encoding}"`;
      const shared = { cacheControl: 'public, no-cache', headers: ['ETag', etag, 'Vary', 'Accept-Encoding'] };
      if (matchesETag(headers['if-none-match'], etag)) return { ...shared, status: 304, body: undefined };
      const coding = encoding === undefined ? [] : ['Content-Encoding', encoding];
      return {
        ...shared,
        status: 200,
        contentType: 'application/json',
        body,
        headers: [...shared.headers, ...coding],
      };
    },
  };
}

const matchesETag = (sent: string | undefined, etag: string): boolean =>
  sent !== undefined && (sent.trim() === '*' || sent.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag));
