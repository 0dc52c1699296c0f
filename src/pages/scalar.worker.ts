import { parentPort } from 'node:worker_threads';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import fastifyApiReference from '@scalar/fastify-api-reference';
import type { PostedScript } from './scalar.ts';

type Reply = { header(): Reply; send(content: string): void };
type Route = { readonly url: string; readonly handler: (request: undefined, reply: Reply) => void };
/** The part of Fastify that the plugin uses. */
type Host = { route(route: Route): void };
type Plugin = (host: Host, options: object, done: () => void) => void;

const PATH = '/js/scalar.js';

// Of Scalar's packages with the browser script, only this plugin comes without the 270 packages that the script is
// built from. It serves the script by a route, so it gets a host that only collects routes.
const plugin: Plugin = fastifyApiReference;
let script: string | undefined;
const reply: Reply = { header: () => reply, send: (content) => void (script = content) };
plugin(
  { route: ({ url, handler }) => void (url.endsWith(PATH) && handler(undefined, reply)) },
  { configuration: { url: '/' } },
  () => undefined,
);
if (script === undefined) throw new Error(`@scalar/fastify-api-reference has no route ${PATH}`);

const body = new Uint8Array(Buffer.from(script));
const posted: PostedScript = {
  body,
  br: new Uint8Array(brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })),
  gzip: new Uint8Array(gzipSync(body)),
};
// Transferred instead of copied.
parentPort?.postMessage(posted, [posted.body.buffer, posted.br.buffer, posted.gzip.buffer]);
