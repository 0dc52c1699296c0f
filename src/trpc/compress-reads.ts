import type { Request, Response } from 'express';
import { chooseEncoding, compress } from '../http/compression.ts';

/**
 * Compresses what queries return, as REST does, if the client accepts that. Answers of mutations stay as they are:
 * they contain new secrets, and the length of a compressed text reveals something about it to a caller who can choose a
 * part of it (BREACH). Queries contain none, and calls of other sites are rejected before they run.
 */
export function compressReads(req: Request, res: Response): void {
  if (req.method !== 'GET') return;
  const encoding = chooseEncoding(req.headers['accept-encoding']);
  if (encoding === undefined) return;
  const chunks: Buffer[] = [];
  const [write, end] = [res.write.bind(res), res.end.bind(res)];
  const keep = (chunk: unknown) => {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  };
  res.write = ((chunk: unknown) => {
    keep(chunk);
    return true;
  }) as typeof write;
  res.end = ((chunk: unknown) => {
    keep(chunk);
    Object.assign(res, { write, end });
    void send(res, Buffer.concat(chunks), encoding);
    return res;
  }) as typeof end;
}

/** Sends the body as it is if it cannot be compressed. Never rejects. */
async function send(res: Response, body: Buffer, encoding: 'br' | 'gzip'): Promise<void> {
  const compressed = await compress(body, encoding).catch(() => undefined);
  if (res.destroyed) return;
  if (compressed !== undefined && !res.headersSent) {
    res.setHeader('Content-Encoding', encoding);
    res.removeHeader('Content-Length');
  }
  res.end(compressed !== undefined && !res.headersSent ? compressed : body);
}
