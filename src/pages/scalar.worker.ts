import { parentPort } from 'node:worker_threads';
import { brotliCompressSync, constants } from 'node:zlib';
import fastifyApiReference from '@scalar/fastify-api-reference';

type Reply = { header(): Reply; send(content: string): void };
type Route = { readonly url: string; readonly handler: (request: undefined, reply: Reply) => void };
/** What the plugin asks of Fastify. */
type Host = { route(route: Route): void };
type Plugin = (host: Host, options: object, done: () => void) => void;

const PATH = '/js/scalar.js';

// Of Scalar's packages with the browser script, this plugin is the one without the 270 packages that the script was built
// from. It serves the script by a route of its own, so it gets a host that has routes and nothing else.
const plugin: Plugin = fastifyApiReference;
let script: string | undefined;
const reply: Reply = { header: () => reply, send: (content) => void (script = content) };
plugin(
  { route: ({ url, handler }) => void (url.endsWith(PATH) && handler(undefined, reply)) },
  { configuration: { url: '/' } },
  () => undefined,
);
if (script === undefined) throw new Error(`@scalar/fastify-api-reference has no route ${PATH}`);

parentPort?.postMessage(brotliCompressSync(script, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
