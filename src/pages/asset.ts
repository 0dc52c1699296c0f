import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import type { RequestHandler } from 'express';

/** A file that pages link to. Its path names its content, so that browsers keep it for good. */
export type Asset = { readonly path: string; readonly serve: RequestHandler };

type Content = { readonly type: string; readonly body: Buffer; readonly encoding?: 'br' };

const decompress = promisify(brotliDecompress);

/** @param path such as `/docs/start.js`, which becomes `/docs/start-<hash>.js` */
export function createAsset(path: string, { type, body, encoding }: Content): Asset {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
  return {
    path: path.replace(/(?=\.\w+$)/, `-${hash}`),
    serve: async (req, res) => {
      res.set({
        'Content-Type': type,
        'Cache-Control': 'public, max-age=31536000, immutable',
        Vary: 'Accept-Encoding',
      });
      if (encoding === undefined || req.acceptsEncodings(encoding)) {
        res.set(encoding === undefined ? {} : { 'Content-Encoding': encoding }).send(body);
      } else {
        res.send(await decompress(body));
      }
    },
  };
}
