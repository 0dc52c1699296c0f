import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Reply } from './reply.ts';

/** Below, compressing takes longer than sending what it saves. */
const PAYS_FROM_BYTES = 16 * 1024;

const CODINGS = {
  // The quality that costs about as much as gzip and saves a little more.
  br: (body: Buffer) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: (body: Buffer) => promisify(gzip)(body),
} as const;

/** A long answer in a coding that the client accepts (RFC 9110, section 12.5.3), made beside the event loop. */
export async function compressReply(reply: Reply, accepted: string | undefined): Promise<Reply> {
  const { body, headers = [] } = reply;
  if (body === undefined || body.length < PAYS_FROM_BYTES || reply.cacheControl !== undefined) return reply;
  const varying = { ...reply, headers: [...headers, 'Vary', 'Accept-Encoding'] };
  const coding = (['br', 'gzip'] as const).find((name) => accepts(accepted ?? '', name));
  if (coding === undefined) return varying;
  return {
    ...varying,
    body: await CODINGS[coding](Buffer.from(body)),
    headers: [...varying.headers, 'Content-Encoding', coding],
  };
}

/** Whether a list of codings names one, and not with a weight of zero. */
const accepts = (list: string, coding: string): boolean =>
  list
    .toLowerCase()
    .split(',')
    .map((entry) => entry.split(';').map((part) => part.trim()))
    .some(([name, weight = '']) => name === coding && !/^q=0(?:\.0*)?$/.test(weight));
