import { createHash } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import { chooseEncoding, createEncodedText, type Encoding } from '../http/compression.ts';

/** One file in the content codings that exist of it. */
export type EncodedFile = { readonly type: string; readonly body: Buffer } & Readonly<
  Partial<Record<Encoding, Buffer>>
>;

/** A file that pages load. Its path contains a hash of its content, so that browsers can cache it forever. */
export type Asset = { readonly path: string; readonly serve: RequestHandler };

export const CACHE_FOREVER = 'public, max-age=31536000, immutable';

/** @param path such as `/docs/start.js`, which becomes `/docs/start-<hash>.js` */
export function createAsset(path: string, file: EncodedFile): Asset {
  const hash = createHash('sha256').update(file.body).digest('hex').slice(0, 12);
  return {
    path: path.replace(/(?=\.\w+$)/, `-${hash}`),
    serve: (req, res) => {
      res.set('Cache-Control', CACHE_FOREVER);
      sendFile(req, res, file);
    },
  };
}

/**
 * Sends a file in a coding that the client accepts. All responses share one Buffer of each coding, which is never
 * copied, so that connections that do not read cost no memory of their own.
 */
export function sendFile(req: Request, res: Response, file: EncodedFile): void {
  res.set('Content-Type', file.type);
  if (file.br !== undefined || file.gzip !== undefined) res.vary('Accept-Encoding');
  const encoding = chooseEncoding(req.headers['accept-encoding']);
  const encoded = encoding === undefined ? undefined : file[encoding];
  if (encoding !== undefined && encoded !== undefined) res.set('Content-Encoding', encoding);
  res.send(encoded ?? file.body);
}

/**
 * Serves a JSON document for 5 minutes, in a coding that the client accepts.
 * @param create called once, by the first request, because few ask and every start would pay for it
 */
export function serveJson(type: string, create: () => unknown): RequestHandler {
  let encode: ReturnType<typeof createEncodedText> | undefined;
  return async (req, res) => {
    encode ??= createEncodedText(Buffer.from(JSON.stringify(create())));
    const { body, encoding } = await encode(req.headers['accept-encoding']);
    res.set({ 'Content-Type': type, 'Cache-Control': 'public, max-age=300' }).vary('Accept-Encoding');
    if (encoding !== undefined) res.set('Content-Encoding', encoding);
    res.send(body);
  };
}
