import express, { type Request, type RequestHandler, type Response } from 'express';
import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { toCanonicalResource } from '../auth/resource.ts';
import { OPENID_SCOPES } from '../entities/index.ts';
import { shareRequestIds } from '../http/request-id.ts';

const BASIC = /^basic +([\w+/=-]+)$/i;

/** The maximum that oidc-provider reads itself. */
const BODY_BYTES_MAX = 56 * 1024;

/** The limit of the parameters of a request that waits for consent, as they are stored. */
const PARAMETERS_BYTES_MAX = 8 * 1024;

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

/**
 * Parameters of OpenID Connect that we interpret ourselves, under names that a request cannot use: without `openid` they
 * mean nothing for most clients, and oidc-provider would reject some of their values. `team` is our own.
 */
const OWN_NAMES: ReadonlyMap<string, string> = new Map(
  ['prompt', 'max_age', 'login_hint', 'id_token_hint', 'ui_locales', 'nonce', 'team'].map((name) => [
    name,
    `asked_${name}`,
  ]),
);

/** What many clients add to every request. */
const IGNORED_SCOPES: readonly string[] = ['openid', 'offline_access'];

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
    const ownName = OWN_NAMES.get(name);
    // Of repetitions, which oidc-provider does not see, the first counts. NUL, which cannot be stored, is ignored with the rest.
    if (ownName !== undefined && !kept.has(ownName) && !value.includes('\0')) kept.append(ownName, value);
    if (!AUTHORIZATION_PARAMETERS.has(name)) continue;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    if (count > REPEATED_MAX) continue;
    if (name === 'scope' && isOpenId(value)) kept.set('asked_openid', selectOpenIdScopes(value));
    const used = name === 'scope' ? removeIgnoredScopes(value) : value;
    if (name !== 'scope' || used !== '') kept.append(name, used);
  }
  if (!kept.has('asked_openid')) kept.delete('asked_nonce');
  // oidc-provider takes the only one that is registered, as OAuth 2.1 allows. A pushed request has its own.
  else if (!kept.has('redirect_uri') && !kept.has('request_uri')) kept.set('asked_without', 'redirect_uri');
  return kept;
}

const wordsOf = (scope: string): string[] => scope.split(' ').filter((word) => word !== '');

const isOpenId = (scope: string): boolean => wordsOf(scope).includes('openid');

const selectOpenIdScopes = (scope: string): string =>
  OPENID_SCOPES.filter((word) => wordsOf(scope).includes(word)).join(' ');

const without = (scope: string, ignored: readonly string[]): string =>
  wordsOf(scope)
    .filter((word) => !ignored.includes(word))
    .join(' ');

const removeIgnoredScopes = (scope: string): string => without(scope, IGNORED_SCOPES);

/** Removes all scopes of OpenID Connect if `openid` is among them. Without it, the others are unknown scopes. */
export const removeOpenIdScopes = (scope: string): string =>
  isOpenId(scope) ? without(scope, [...IGNORED_SCOPES, ...OPENID_SCOPES]) : removeIgnoredScopes(scope);

/** A request with more parameters than are stored. */
export class ParametersTooLargeError extends Error {
  override name = 'ParametersTooLargeError';
  override message = `the parameters have more than ${PARAMETERS_BYTES_MAX} bytes`;
  /** What `createErrorHandler` answers. */
  readonly status = 400;
}

/** Writes each `resource` in the spelling that is stored, by which oidc-provider compares them. */
export function normalizeResources(baseUrl: string, parameters: URLSearchParams): URLSearchParams {
  const resources = parameters.getAll('resource');
  parameters.delete('resource');
  for (const uri of resources) parameters.append('resource', toCanonicalResource(baseUrl, uri));
  return parameters;
}

/** Selects the parameters that are used. @throws ParametersTooLargeError */
function selectParameters(baseUrl: string, parameters: URLSearchParams): URLSearchParams {
  const kept = normalizeResources(baseUrl, removeIgnoredParameters(parameters));
  if (Buffer.byteLength(JSON.stringify([...kept])) > PARAMETERS_BYTES_MAX) throw new ParametersTooLargeError();
  return kept;
}

/** Selects the used parameters of the query of a request. */
export const filterQuery =
  (baseUrl: string): RequestHandler =>
  (req, _res, next) => {
    const at = req.url.indexOf('?');
    if (at !== -1) {
      const selected = selectParameters(baseUrl, new URLSearchParams(req.url.slice(at)));
      req.url = `${req.url.slice(0, at)}?${selected.toString()}`;
    }
    next();
  };

/** Reads the form of a request as it is. */
export const readForm = (): RequestHandler[] => rewriteForm((form) => Promise.resolve(form));

/** Selects the used parameters of the form of a pushed request. */
export const filterForm = (baseUrl: string): RequestHandler[] =>
  rewriteForm(async (form) => selectParameters(baseUrl, form));

const readRawForm = express.raw({ type: 'application/x-www-form-urlencoded', limit: BODY_BYTES_MAX, inflate: false });

/** Reads the form of a request; what reads it afterwards gets it, too. @returns an empty one for what is none */
export const readFormOf = (req: Request, res: Response): Promise<URLSearchParams> =>
  new Promise((resolve, reject) => {
    readRawForm(req, res, (error?: unknown) => {
      if (error !== undefined) reject(error as Error); // of body-parser
      else resolve(new URLSearchParams(Buffer.isBuffer(req.body) ? req.body.toString() : ''));
    });
  });

/** Returns the client id and the secret of a request, whichever way it sends them (RFC 6749, section 2.3.1). */
export function readClientSecret(req: Request, form: URLSearchParams): { id: string; secret: string } {
  const [, credentials = ''] = BASIC.exec(req.get('authorization') ?? '') ?? [];
  const [, id = '', secret = ''] = /^([^:]*):(.*)$/.exec(Buffer.from(credentials, 'base64').toString()) ?? [];
  if (secret === '') return { id: form.get('client_id') ?? '', secret: form.get('client_secret') ?? '' };
  const decode = (encoded: string): string => new URLSearchParams(`value=${encoded}`).get('value') ?? '';
  return { id: decode(id), secret: decode(secret) };
}

/** Applies `rewrite` to a form before oidc-provider, which reads the body of a request itself. */
export function rewriteForm(rewrite: (form: URLSearchParams) => Promise<URLSearchParams>): RequestHandler[] {
  return [
    readRawForm,
    async (req, _res, next) => {
      if (Buffer.isBuffer(req.body)) {
        const form = await rewrite(takeEmptySecret(req, new URLSearchParams(req.body.toString())));
        rewritten.set(req, copyWithBody(req, Buffer.from(form.toString())));
      }
      next();
    },
  ];
}

/**
 * Moves the client id of `Authorization: Basic` with an empty secret to the form: the client has none (RFC 6749, section
 * 2.3.1). Some libraries send it for public clients, which oidc-provider rejects.
 */
function takeEmptySecret(req: Request, form: URLSearchParams): URLSearchParams {
  const [, credentials = ''] = BASIC.exec(req.get('authorization') ?? '') ?? [];
  const [, encoded = ''] = /^([^:]+):$/.exec(Buffer.from(credentials, 'base64').toString()) ?? [];
  const id = new URLSearchParams(`id=${encoded}`).get('id') ?? '';
  if (id === '' || (form.has('client_id') && form.get('client_id') !== id)) return form;
  delete req.headers.authorization;
  form.set('client_id', id);
  return form;
}

/** Removes members without a value from the JSON of a registration before oidc-provider: null is absent. */
export const dropNullMembers: RequestHandler[] = [
  express.raw({ type: 'application/json', limit: BODY_BYTES_MAX, inflate: false }),
  (req, _res, next) => {
    if (Buffer.isBuffer(req.body)) rewritten.set(req, copyWithBody(req, withoutNulls(req.body)));
    next();
  },
];

function withoutNulls(body: Buffer): Buffer {
  try {
    const value: unknown = JSON.parse(body.toString());
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return body;
    return Buffer.from(JSON.stringify(Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null))));
  } catch {
    return body; // oidc-provider says so
  }
}

const rewritten = new WeakMap<Request, IncomingMessage>();

/** Returns the request that oidc-provider reads: the copy with the rewritten form, if there is one. */
export const getReadable = (req: Request): IncomingMessage => rewritten.get(req) ?? req;

function copyWithBody(req: IncomingMessage, body: Buffer): IncomingMessage {
  const { method, url, headers, rawHeaders, socket, httpVersion, httpVersionMajor, httpVersionMinor } = req;
  headers['content-length'] = String(body.length);
  const copy = { method, url, headers, rawHeaders, socket, httpVersion, httpVersionMajor, httpVersionMinor };
  const made = Object.assign(Readable.from([body]), copy) as unknown as IncomingMessage; // the members that oidc-provider reads
  shareRequestIds(req, made);
  return made;
}
