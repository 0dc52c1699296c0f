import type { IncomingMessage } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { lookup as lookupBySystem } from 'node:dns';
import { RequestFilteringHttpsAgent } from 'request-filtering-agent';

const BODY_BYTES_MAX = 5 * 1024;
const HEADER_BYTES_MAX = 8 * 1024;
const MILLISECONDS_MAX = 2500;

/** The network as tests have it. */
export type Network = {
  /** In place of the system's. */
  readonly lookup?: LookupFunction;
  /** Certificates to trust instead of the usual ones. */
  readonly ca?: string;
  /** Addresses to connect to although they are not public. */
  readonly allowedAddresses: readonly string[];
};

/**
 * Fetches a document that somebody unknown has named, as `fetch` would, but from public addresses
 * alone, over verified TLS, and without anything of ours in the request. A redirect is an answer
 * like another, and is not followed; an answer that is too large or too slow is none.
 */
export async function fetchClientDocument(
  url: string | URL,
  options: RequestInit = {},
  network: Network = { allowedAddresses: [] },
): Promise<Response> {
  const target = new URL(url);
  if (target.protocol !== 'https:') throw new TypeError('A document is fetched by https alone.');
  if (target.username !== '' || target.password !== '') throw new TypeError('The URL of a document holds no password.');
  const host = target.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && isHidden(host, network)) throw notAllowed(host);
  if ((options.method ?? 'GET') !== 'GET') throw new TypeError('A document is fetched by GET alone.');

  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error(`No answer in ${MILLISECONDS_MAX} ms.`)), MILLISECONDS_MAX);
  try {
    return await exchange(target, {
      agent: agentOf(network),
      headers: {
        accept: new Headers(options.headers).get('accept') ?? 'application/json',
        'accept-encoding': 'identity',
      },
      maxHeaderSize: HEADER_BYTES_MAX,
      signal: options.signal ? AbortSignal.any([options.signal, limit.signal]) : limit.signal,
    });
  } finally {
    clearTimeout(timer);
  }
}

function exchange(target: URL, options: RequestOptions): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  // Also after an answer that is none, such as an offer of another protocol, which is no error to Node.
  const onClose = () => reject(new Error('The connection was closed without an answer.'));
  const req = request(target, options, (res) => {
    req.off('close', onClose);
    responseOf(res)
      .then(resolve, reject)
      .finally(() => req.destroy());
  });
  req.on('error', reject).on('close', onClose);
  req.end();
  return promise;
}

/** The answer as a web one. Nobody reads the body of what is no document. */
async function responseOf(res: IncomingMessage): Promise<Response> {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(res.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  const status = res.statusCode ?? 0;
  if (status !== 200) return new Response(null, { status, headers });
  if (!JSON_TYPE.test(headers.get('content-type') ?? '')) throw new TypeError('A document is JSON.');
  return new Response(await bodyOf(res), { status, headers });
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

async function bodyOf(res: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Bytes, as no encoding is set.
  for await (const chunk of res as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) throw new RangeError(`A document has at most ${BODY_BYTES_MAX} bytes.`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** The agent of one request. It looks at every address that a name resolves to, and connects to one of those alone. */
const agentOf = (network: Network): RequestFilteringHttpsAgent =>
  new RequestFilteringHttpsAgent({
    allowIPAddressList: [...network.allowedAddresses],
    rejectUnauthorized: true,
    ...(network.ca !== undefined && { ca: network.ca }),
    lookup: (hostname, options, callback) =>
      (network.lookup ?? lookupBySystem)(hostname, options, (error, found, family) => {
        const addresses = typeof found === 'string' ? [{ address: found }] : (found ?? []);
        const isRefused = addresses.some(({ address }) => isHidden(address, network));
        callback(isRefused ? notAllowed(hostname) : error, found, family);
      }),
  });

const notAllowed = (host: string): Error => new Error(`A connection to ${host} is not allowed.`);

// The only IPv6 that is handed out to the public (RFC 4291, section 2.4).
const IPV6_PUBLIC = new BlockList();
IPV6_PUBLIC.addSubnet('2000::', 3, 'ipv6');

// A public address at which a virtual machine on Azure finds the services of its host.
const AZURE_HOST = '168.63.129.16';

/**
 * What the agent takes for public and is not. It knows the special ranges that have a name, but not IPv4 embedded
 * in ::/96, IPv6 that is in no one's use, or that an interface named by a zone decides where an address leads.
 */
function isHidden(address: string, { allowedAddresses }: Network): boolean {
  if (allowedAddresses.includes(address)) return false;
  if (isIP(address) === 4) return address === AZURE_HOST;
  return address.includes('%') || !IPV6_PUBLIC.check(address, 'ipv6');
}
