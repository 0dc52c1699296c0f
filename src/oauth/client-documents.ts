import type { IncomingMessage } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { lookup as lookupBySystem } from 'node:dns';
import { RequestFilteringHttpsAgent } from 'request-filtering-agent';

const BODY_BYTES_MAX = 5 * 1024;
const HEADER_BYTES_MAX = 8 * 1024;
const TIMEOUT_MS = 2500;

/** Overrides of the network, for tests. */
export type Network = {
  /** Replaces the resolver of the system. */
  readonly lookup?: LookupFunction;
  /** Certificate authorities to trust instead of the default ones, as PEM. */
  readonly ca?: string;
  /** IP addresses to connect to although they are not public. */
  readonly allowedAddresses: readonly string[];
};

/**
 * Fetches the metadata document of a client. Its URL is untrusted, so the request goes only to public IP addresses, over
 * verified TLS, and carries no credentials. Redirects are not followed.
 * @returns the response; its body is null unless the status is 200
 * @throws if the URL is not allowed, or the response is too large, too slow or not JSON
 */
export async function fetchClientDocument(
  url: string | URL,
  options: RequestInit = {},
  network: Network = { allowedAddresses: [] },
): Promise<Response> {
  const target = new URL(url);
  if (target.protocol !== 'https:') throw new TypeError('Client documents are fetched only over https.');
  if (target.username !== '' || target.password !== '')
    throw new TypeError('The URL of a client document must not contain a user or password.');
  const host = target.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && isNotPublic(host, network)) throw createForbiddenError(host);
  if ((options.method ?? 'GET') !== 'GET') throw new TypeError('Client documents are fetched only with GET.');

  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error(`No response within ${TIMEOUT_MS} ms.`)), TIMEOUT_MS);
  try {
    return await sendRequest(target, {
      agent: createAgent(network),
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

function sendRequest(target: URL, options: RequestOptions): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  // Node reports no error if the server closes the connection after an answer such as a protocol upgrade.
  const onClose = () => reject(new Error('The connection was closed without an answer.'));
  const req = request(target, options, (res) => {
    req.off('close', onClose);
    toResponse(res)
      .then(resolve, reject)
      .finally(() => req.destroy());
  });
  req.on('error', reject).on('close', onClose);
  req.end();
  return promise;
}

/** Converts a response to that of the Fetch API. The body is read only for status 200. */
async function toResponse(res: IncomingMessage): Promise<Response> {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(res.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  const status = res.statusCode ?? 0;
  if (status !== 200) return new Response(null, { status, headers });
  if (!JSON_TYPE.test(headers.get('content-type') ?? '')) throw new TypeError('The client document is not JSON.');
  return new Response(await readBody(res), { status, headers });
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

async function readBody(res: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Chunks are bytes, because no encoding is set.
  for await (const chunk of res as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) throw new RangeError(`The client document has more than ${BODY_BYTES_MAX} bytes.`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/** Creates the agent of one request. It checks every IP address that the host resolves to, and connects only to those. */
const createAgent = (network: Network): RequestFilteringHttpsAgent =>
  new RequestFilteringHttpsAgent({
    allowIPAddressList: [...network.allowedAddresses],
    rejectUnauthorized: true,
    ...(network.ca !== undefined && { ca: network.ca }),
    lookup: (hostname, options, callback) =>
      (network.lookup ?? lookupBySystem)(hostname, options, (error, found, family) => {
        const addresses = typeof found === 'string' ? [{ address: found }] : (found ?? []);
        const isForbidden = addresses.some(({ address }) => isNotPublic(address, network));
        callback(isForbidden ? createForbiddenError(hostname) : error, found, family);
      }),
  });

const createForbiddenError = (host: string): Error => new Error(`A connection to ${host} is not allowed.`);

// The global unicast range of IPv6 (RFC 4291, section 2.4).
const IPV6_PUBLIC = new BlockList();
IPV6_PUBLIC.addSubnet('2000::', 3, 'ipv6');

// The address in the public range at which Azure offers virtual machines the services of their host.
const AZURE_HOST = '168.63.129.16';

/**
 * Returns whether an IP address is not public although the agent accepts it. The agent knows the registered special
 * ranges, but not IPv4 embedded in ::/96, unassigned IPv6 and zones, which select a network interface.
 */
function isNotPublic(address: string, { allowedAddresses }: Network): boolean {
  if (allowedAddresses.includes(address)) return false;
  if (isIP(address) === 4) return address === AZURE_HOST;
  return address.includes('%') || !IPV6_PUBLIC.check(address, 'ipv6');
}
