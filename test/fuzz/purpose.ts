import { operationOf } from '../rest/operations.ts';
import type { Described } from './document.ts';
import type { Json } from './json.ts';
import type { Draft } from './requests.ts';
import { THINGS, type Thing } from './world.ts';

/** A status, and a request that is written so that the operation answers with it. */
export type Purpose = { readonly status: number; readonly draft: Draft };

const toJson = (value: unknown): Json => {
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value !== 'object' || value === null) return value as Json; // a scalar of our own table
  return { members: Object.entries(value).map(([name, member]) => [name, toJson(member)] as const) };
};

const bodyOf = (json: Json, type = 'application/json') => ({ type, json, encoding: 'utf8' as const });

/** One request for each status that an operation has to be seen to give: success, and a denial at every step. */
export function purposesOf(operation: Described): readonly Purpose[] {
  const { body } = operationOf(operation.id);
  const firstOf = (name: string): Thing => THINGS[name as keyof typeof THINGS][0]; // the parameters are named like them
  const allowed: Draft = {
    method: operation.method,
    twist: 'none',
    credential: 'owner',
    scheme: 'bearer',
    path: Object.fromEntries(operation.pathParams.map((name) => [name, { thing: firstOf(name) }])),
    query: [],
    headers: [],
    body: body === undefined ? undefined : bodyOf(toJson(body)),
  };
  const [param] = operation.pathParams;
  const lacking = operation.scope?.endsWith(':read') ? 'writer' : 'reader';
  return [
    { status: operation.success, draft: allowed },
    { status: 401, draft: { ...allowed, credential: 'none' } },
    ...(operation.scope === undefined ? [] : [{ status: 403, draft: { ...allowed, credential: lacking } as const }]),
    ...(param === undefined
      ? []
      : [{ status: 400, draft: { ...allowed, path: { ...allowed.path, [param]: { raw: 'a', times: 256 } } } }]),
    ...(body === undefined
      ? []
      : [
          { status: 400, draft: { ...allowed, body: bodyOf([]) } },
          { status: 413, draft: { ...allowed, body: bodyOf({ members: [['long', { long: 110 * 1024 }]] }) } },
          { status: 415, draft: { ...allowed, body: bodyOf(toJson(body), 'text/plain') } },
        ]),
  ];
}
