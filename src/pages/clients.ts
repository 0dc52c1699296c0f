import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Router } from 'express';

/** What `bin/build-client.cjs` packs. */
const PACKED = join(import.meta.dirname, '../../dist/clients/typescript.tgz');

/** `GET /clients/typescript.tgz`: the client of this version, for `npm install URL`. 404 if it was not built. */
export function clientPages(path = PACKED): Router {
  const pages = Router();
  const body = read(path);
  if (body === undefined) return pages;
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  pages.get('/clients/typescript.tgz', (_req, res) => {
    // npm asks again each time, so that it never installs the client of a version before.
    res.set({ 'Cache-Control': 'public, no-cache', ETag: etag }).type('application/gzip').send(body);
  });
  return pages;
}

function read(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
