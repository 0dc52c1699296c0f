import { request as requestByHttp, type IncomingMessage } from 'node:http';
import { request as requestByHttps, type RequestOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';
import { isLoopback } from '../config/origins.ts';
import { boundBeforeAnswer, HEADER_BYTES_MAX, readPieces } from './bounded-answer.ts';
import { createForbiddenError, isAllowed, isNotPublic, type Network } from './network.ts';
import { isEmptyAnswer, resolveName, type NameSources } from './resolve.ts';

/** A response whose body is read once, by `readBody`. */
export type OutboundResponse = Pick<IncomingMessage, 'statusCode' | 'headers' | 'headersDistinct'> & {
  readonly readBody: () => AsyncIterable<Buffer>;
};

export type OutboundRequest<Result> = {
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The limit for everything: name lookup, connection and response. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | null | undefined;
  /** Reads what is needed of the response; the connection is closed afterwards. */
  readonly read: (res: OutboundResponse) => Promise<Result>;
};

/**
 * Sends a request to a URL that users choose. It connects only to public IP addresses and those of the given
 * networks, checked at the time of the connection, over verified TLS. `http` is possible only to loopback hosts.
 * Redirects are not followed.
 * @throws TypeError if the URL itself is not allowed; an error with one line if there is no response
 */
export async function sendOutbound<Result>(
  target: URL,
  { method, headers, body, timeoutMs, signal, read }: OutboundRequest<Result>,
  network: Network,
): Promise<Result> {
  const isPlain = target.protocol === 'http:' && isLoopback(target.hostname);
  if (target.protocol !== 'https:' && !isPlain) throw new TypeError('The URL must start with https://.');
  if (target.username !== '' || target.password !== '')
    throw new TypeError('The URL must not contain a user or password.');
  const host = target.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && isNotPublic(host, network)) throw createForbiddenError();

  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error(`No response within ${timeoutMs} ms.`)), timeoutMs);
  const ended = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal;
  try {
    const options: RequestOptions = {
      method,
      agent: createAgent(network, host, isPlain, ended),
      headers: { ...headers, ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }) },
      maxHeaderSize: HEADER_BYTES_MAX,
      signal: ended,
    };
    return await exchange(isPlain ? requestByHttp : requestByHttps, target, options, body, read);
  } finally {
    clearTimeout(timer);
  }
}

function exchange<Result>(
  request: typeof requestByHttps,
  target: URL,
  options: RequestOptions,
  body: string | undefined,
  read: (res: OutboundResponse) => Promise<Result>,
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  // Node reports no error if the server closes the connection after an answer such as a protocol upgrade.
  const onClose = () => reject(new Error('The connection was closed without an answer.'));
  const req = request(target, options, (res) => {
    // From now on, an error of the connection is one of the response, which `read` handles.
    req.off('close', onClose).off('error', reject).on('error', ignore);
    const { statusCode, headers, headersDistinct } = res;
    read({ statusCode, headers, headersDistinct, readBody: () => readPieces(res) })
      .then(resolve, reject)
      .finally(() => req.destroy());
  });
  req.on('error', reject).on('close', onClose);
  boundBeforeAnswer(req);
  req.end(body);
  return promise;
}

const ignore = () => undefined;

/**
 * Creates the agent of one request. Every IP address that the host resolves to is checked here, and by the agent again,
 * which connects only to those.
 */
function createAgent(network: Network, host: string, isPlain: boolean, signal: AbortSignal) {
  // Single addresses, added when they were found in an allowed network: the agent would compare networks of both versions.
  const allowed = isAllowed(host, network) ? [host] : [];
  const lookup = network.lookup ?? createLookup(network, signal);
  const options = {
    allowIPAddressList: allowed,
    rejectUnauthorized: true,
    ...(network.ca !== undefined && { ca: network.ca }),
    lookup: ((hostname, options, callback) =>
      lookup(hostname, options, (error, found, family) => {
        const addresses = typeof found === 'string' ? [{ address: found }] : (found ?? []);
        const isForbidden = addresses.some(({ address }) => isNotPublic(address, network));
        for (const { address } of addresses) if (isAllowed(address, network)) allowed.push(address);
        callback(isForbidden || isEmptyAnswer(error) ? createForbiddenError() : error, found, family);
      })) satisfies Network['lookup'],
  };
  return isPlain ? new RequestFilteringHttpAgent(options) : new RequestFilteringHttpsAgent(options);
}

/** Creates a look-up for `net.connect` that ends with the signal. */
const createLookup =
  ({ names }: Network, signal: AbortSignal): LookupFunction =>
  (hostname, options, callback) => {
    lookUp(hostname, signal, names, (error, found) => {
      const [first] = found ?? [];
      if (error !== null || options.all) callback(error, [...(found ?? [])]);
      else callback(null, first?.address ?? '', first?.family);
    });
  };

const lookUp = callbackify((name: string, signal: AbortSignal, sources: NameSources | undefined) =>
  resolveName(name, signal, sources),
);
