import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import Negotiator from 'negotiator';
import { byteLength, type Reply } from './reply.ts';

/** Compressing a smaller body takes longer than sending it. */
const MIN_BYTES = 16 * 1024;

/** Parsing takes the time of the square of the codings: 4 ms for a header of 16 KB, of which browsers send 30 bytes. */
const HEADER_LENGTH_MAX = 500;

export type Encoding = 'br' | 'gzip';

const COMPRESS: Record<Encoding, (body: Buffer) => Promise<Buffer>> = {
  // The quality that costs about as much as gzip and saves slightly more.
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (body) => promisify(gzip)(body),
};

const PREFERRED: readonly string[] = ['br', 'gzip'];

/** An argument that its types leave out: the server's order among codings that the client weighs equally. */
type Preferring = { encodings(available: readonly string[], options: { preferred: readonly string[] }): string[] };

/** Chooses a content coding that the client accepts (RFC 9110, section 12.5.3). @returns undefined for none */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding | undefined {
  if (acceptEncoding === undefined) return undefined;
  const header = acceptEncoding.slice(0, HEADER_LENGTH_MAX);
  const negotiator = new Negotiator({ headers: { 'accept-encoding': header } }) as Preferring;
  const [chosen] = negotiator.encodings([...PREFERRED, 'identity'], { preferred: PREFERRED });
  return chosen === 'br' || chosen === 'gzip' ? chosen : undefined;
}

/** Compresses a body in a thread, unless it is too short to gain by that. */
export const compress = async (body: Buffer, encoding: Encoding): Promise<Buffer | undefined> =>
  body.length < MIN_BYTES ? undefined : COMPRESS[encoding](body);

/** A text that does not change, in one of the codings in which it is sent. */
export type EncodedText = { readonly body: Buffer; readonly encoding: Encoding | undefined };

/**
 * Returns a function that returns a text in the coding for an `Accept-Encoding` header. Each coding is made once, when a
 * client first asks for it. Short texts stay as they are.
 */
export function createEncodedText(body: Buffer): (acceptEncoding: string | undefined) => Promise<EncodedText> {
  const made = new Map<Encoding, Promise<Buffer | undefined>>();
  return async (acceptEncoding) => {
    const encoding = chooseEncoding(acceptEncoding);
    if (encoding === undefined) return { body, encoding };
    if (!made.has(encoding))
      made.set(
        encoding,
        compress(body, encoding).catch(() => undefined),
      );
    const encoded = await made.get(encoding);
    return encoded === undefined ? { body, encoding: undefined } : { body: encoded, encoding };
  };
}

/** Compresses a long reply in a thread, if the client accepts that. */
export async function compressReply(reply: Reply, acceptEncoding: string | undefined): Promise<Reply> {
  const { body, headers = [] } = reply;
  if (body === undefined || byteLength(body) < MIN_BYTES || reply.cacheControl !== undefined) return reply;
  const varying = { ...reply, headers: [...headers, 'Vary', 'Accept-Encoding'] };
  const encoding = chooseEncoding(acceptEncoding);
  if (encoding === undefined) return varying;
  return {
    ...varying,
    body: await COMPRESS[encoding](toBuffer(body)),
    headers: [...varying.headers, 'Content-Encoding', encoding],
  };
}

function toBuffer(body: NonNullable<Reply['body']>): Buffer {
  if (typeof body === 'string') return Buffer.from(body);
  return Buffer.isBuffer(body) ? body : Buffer.concat(body);
}
