import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Router } from 'express';

/** What `bin/build-client.cjs` packs. */
const PACKED = join(import.meta.dirname, '../../dist/clients');

/**
 * `GET /clients/typescript.tgz`: the client of this version, for `npm install URL`; `/clients/examples.tgz`: programs
 * that use it. 404 if they were not built.
 */
export function clientPages(folder = PACKED): Router {
  const pages = Router();
  for (const name of ['typescript.tgz', 'examples.tgz']) {
    const body = read(join(folder, name));
    if (body === undefined) continue;
    const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
    pages.get(`/clients/${name}`, (_req, res) => {
      // npm asks again each time, so that it never installs the client of a version before.
      res.set({ 'Cache-Control': 'public, no-cache', ETag: etag }).type('application/gzip').send(body);
    });
  }
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
