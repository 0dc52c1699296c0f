import type { AnyTRPCProcedure } from '@trpc/server';
import { z } from 'zod';
import type { ValidationEntry } from '../problems/error.ts';
import type { Context } from '../procedures/context.ts';
import { definitionOf } from '../procedures/definition.ts';
import { takesIdempotencyKey } from '../procedures/idempotency-key.ts';
import { inputOf } from '../procedures/middlewares.ts';
import type { Meta } from '../procedures/meta.ts';

/** A REST operation: a procedure with an endpoint. */
export type Route = {
  readonly operationId: string;
  readonly method: string;
  /** The path as in the OpenAPI document, such as `/api/v1/teams/{teamId}`. */
  readonly template: string;
  readonly status: 200 | 201 | 202;
  readonly meta: Meta;
  readonly pathParams: readonly string[];
  readonly queryParams: readonly string[];
  /** Those that are no strings. */
  readonly queryTypes: ReadonlyMap<string, 'integer' | 'boolean'>;
  readonly hasBody: boolean;
  /** Whether query parameters and members of the body that it does not have are rejected. */
  readonly isClosed: boolean;
  readonly takesIdempotencyKey: boolean;
  readonly takesIfMatch: boolean;
  /** Returns the part of the request that contains a member of the input. */
  readonly locationOf: (field: string) => ValidationEntry['in'];
  call(ctx: Context, getRawInput: () => Promise<unknown>): Promise<unknown>;
  /** The input schema, or undefined if the operation has no input. */
  readonly input: z.ZodObject | undefined;
  readonly output: z.ZodType;
};

export type Lookup =
  | { readonly kind: 'found'; readonly route: Route; readonly rawParams: readonly string[]; readonly allow: string }
  | { readonly kind: 'wrong-method'; readonly allow: string }
  | { readonly kind: 'unknown' };

export type RouteTable = {
  readonly routes: readonly Route[];
  /** Finds the route of a raw path, case-sensitive and without decoding, so that `%2e%2e` cannot climb. */
  lookup(method: string, path: string): Lookup;
};

type Node = { literals: Map<string, Node>; param?: Node; routes: Map<string, Route>; allow: string };
const createNode = (): Node => ({ literals: new Map(), routes: new Map(), allow: '' });

const UNKNOWN: Lookup = { kind: 'unknown' };

/** Derives the route table from the endpoints that the procedures declare. */
export function buildRoutes(procedures: Readonly<Record<string, unknown>>): RouteTable {
  const routes = Object.values(procedures).flatMap((procedure) => toRoute(procedure as AnyTRPCProcedure) ?? []);
  const root = createNode();
  for (const route of routes) {
    const node = splitPath(route.template).reduce(getOrCreateChild, root);
    node.routes.set(route.method, route);
    const methods = [...node.routes.keys()];
    node.allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  }

  return {
    routes,
    lookup(method, path) {
      const segments = splitPath(path);
      const rawParams: string[] = [];
      let node: Node | undefined = root;
      for (const segment of segments) {
        const literal: Node | undefined = node.literals.get(segment);
        if (literal === undefined && segment !== '') rawParams.push(segment);
        node = literal ?? (segment === '' ? undefined : node.param);
        if (node === undefined) return UNKNOWN;
      }
      if (node.routes.size === 0) return UNKNOWN;
      // OPTIONS concerns the path, so any of its operations fits.
      const route =
        method === 'OPTIONS' ? [...node.routes.values()][0] : node.routes.get(method === 'HEAD' ? 'GET' : method);
      return route === undefined
        ? { kind: 'wrong-method', allow: node.allow }
        : { kind: 'found', route, rawParams, allow: node.allow };
    },
  };
}

/** Splits a path into segments. One trailing slash is tolerated; any other empty segment stays and matches nothing. */
function splitPath(path: string): string[] {
  const end = path.length > 1 && path.endsWith('/') ? -1 : undefined;
  return path.slice(1, end).split('/');
}

function getOrCreateChild(node: Node, segment: string): Node {
  if (segment.startsWith('{')) return (node.param ??= createNode());
  const child = node.literals.get(segment) ?? createNode();
  node.literals.set(segment, child);
  return child;
}

type Callable = (options: {
  ctx: Context;
  getRawInput: () => Promise<unknown>;
  path: string;
  type: string;
  signal: undefined;
  batchIndex: number;
}) => Promise<unknown>;

/** Returns what a procedure declares: its metadata, its input unless it has none, and its output. */
export function declarationOf(procedure: AnyTRPCProcedure): Pick<Route, 'input' | 'output'> & { meta?: Meta } {
  const { meta, output = z.unknown() } = definitionOf<Meta>(procedure);
  return { input: inputOf(procedure), output, ...(meta && { meta }) };
}

function toRoute(procedure: AnyTRPCProcedure): Route | undefined {
  const { meta, input, output } = declarationOf(procedure);
  const openapi = meta?.openapi;
  if (meta === undefined || openapi?.operationId === undefined) return undefined;
  const { operationId, method, path: template } = openapi;

  const pathParams = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const others = Object.keys(input?.shape ?? {}).filter((field) => !pathParams.includes(field));
  const queryTypes = new Map<string, 'integer' | 'boolean'>();
  const takesBody = (method === 'POST' || method === 'PUT' || method === 'PATCH') && meta.upload === undefined;
  const hasBody = takesBody && others.length > 0;
  const inPath = new Set(pathParams);
  for (const field of takesBody ? [] : others) {
    const { type } = z.toJSONSchema(input?.shape[field] as z.ZodType, { io: 'input' }); // a member of the shape
    if (type === 'integer' || type === 'boolean') queryTypes.set(field, type);
  }

  return {
    operationId,
    method,
    template,
    status: meta.status ?? 200,
    meta,
    pathParams,
    queryParams: takesBody ? [] : others,
    queryTypes,
    hasBody,
    isClosed: meta.access?.isOperatorApi === true,
    takesIfMatch: meta.isVersioned === true && takesBody,
    takesIdempotencyKey: takesIdempotencyKey(procedure),
    locationOf: (field) => (inPath.has(field) ? 'path' : hasBody ? 'body' : 'query'),
    call: callOf(procedure, operationId),
    input,
    output,
  };
}

/** Returns a function that calls a procedure as tRPC's own adapters do. */
export function callOf(procedure: AnyTRPCProcedure, path: string): Route['call'] {
  const call = procedure as unknown as Callable;
  const { type } = definitionOf(procedure);
  return (ctx, getRawInput) => call({ ctx, getRawInput, path, type, signal: undefined, batchIndex: 0 });
}
