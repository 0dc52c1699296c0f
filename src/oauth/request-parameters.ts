import express, { type Request, type RequestHandler } from 'express';
import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';

/** The maximum that oidc-provider reads itself. */
const BODY_BYTES_MAX = 56 * 1024;

/** The parameters of an authorization request. Others are ignored (RFC 6749, section 3.1), OpenID's among them. */
const AUTHORIZATION_PARAMETERS: ReadonlySet<string> = new Set([
  'client_id',
  'client_secret',
  'code_challenge',
  'code_challenge_method',
  'dpop_jkt',
  'redirect_uri',
  'request',
  'request_uri',
  'resource',
  'response_mode',
  'response_type',
  'scope',
  'state',
]);

/** Scopes of OpenID Connect, which many clients add to every request. */
const IGNORED_SCOPES: ReadonlySet<string> = new Set(['openid', 'offline_access']);

/**
 * How often a parameter is passed on. Only `resource` can be repeated; koa parses repetitions in the square of their
 * number, which took 90 ms for a URL of 16 KB.
 */
const REPEATED_MAX = 10;

/** Removes what the authorization server ignores, because oidc-provider rejects some of it, and most repetitions. */
export function removeIgnoredParameters(parameters: URLSearchParams): URLSearchParams {
  const kept = new URLSearchParams();
  const counts = new Map<string, number>();
  for (const [name, value] of parameters) {
    if (!AUTHORIZATION_PARAMETERS.has(name)) continue;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    if (count > REPEATED_MAX) continue;
    const used = name === 'scope' ? removeIgnoredScopes(value) : value;
    if (name !== 'scope' || used !== '') kept.append(name, used);
  }
  return kept;
}

const removeIgnoredScopes = (scope: string): string =>
  scope
    .split(' ')
    .filter((word) => word !== '' && !IGNORED_SCOPES.has(word))
    .join(' ');

/** Removes ignored parameters from the query of a request. */
export const filterQuery: RequestHandler = (req, _res, next) => {
  const at = req.url.indexOf('?');
  if (at !== -1)
    req.url = `${req.url.slice(0, at)}?${removeIgnoredParameters(new URLSearchParams(req.url.slice(at))).toString()}`;
  next();
};

/** Removes ignored parameters from the form of a pushed request. */
export const filterForm = (): RequestHandler[] => rewriteForm((form) => Promise.resolve(removeIgnoredParameters(form)));

/** Applies `rewrite` to a form before oidc-provider, which reads the body of a request itself. */
export function rewriteForm(rewrite: (form: URLSearchParams) => Promise<URLSearchParams>): RequestHandler[] {
  return [
    express.raw({ type: 'application/x-www-form-urlencoded', limit: BODY_BYTES_MAX, inflate: false }),
    async (req, _res, next) => {
      if (Buffer.isBuffer(req.body)) {
        const form = await rewrite(new URLSearchParams(req.body.toString()));
        rewritten.set(req, copyWithBody(req, Buffer.from(form.toString())));
      }
      next();
    },
  ];
}

const rewritten = new WeakMap<Request, IncomingMessage>();

/** Returns the request that oidc-provider reads: the copy with the rewritten form, if there is one. */
export const getReadable = (req: Request): IncomingMessage => rewritten.get(req) ?? req;

function copyWithBody(req: IncomingMessage, body: Buffer): IncomingMessage {
  const { method, url, headers, rawHeaders, socket, httpVersion, httpVersionMajor, httpVersionMinor } = req;
  headers['content-length'] = String(body.length);
  const copy = { method, url, headers, rawHeaders, socket, httpVersion, httpVersionMajor, httpVersionMinor };
  return Object.assign(Readable.from([body]), copy) as unknown as IncomingMessage; // the members that oidc-provider reads
}
