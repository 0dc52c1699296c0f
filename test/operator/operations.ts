import type { OperatorScope } from '../../src/entities/index.ts';
import { scopesOf } from '../../src/procedures/authorize.ts';
import { describeFace } from '../../src/rest/describe-face.ts';
import { OPERATOR_FACE } from '../../src/rest/operator-face.ts';
import type { Route } from '../../src/rest/routes.ts';
import { operatorRouter } from '../../src/router.ts';
import type { Sent } from '../support/client.ts';

export type Operation = {
  readonly id: string;
  readonly method: string;
  readonly template: string;
  /** All scopes that it needs. */
  readonly scopes: readonly OperatorScope[];
  readonly hasBody: boolean;
  readonly route: Route;
};

const { routes } = describeFace(OPERATOR_FACE, operatorRouter, 'http://localhost:3000').routes;

/** The operations of the operator API, as it serves them. */
export const OPERATIONS: readonly Operation[] = routes.map((route) => ({
  id: route.operationId,
  method: route.method,
  template: route.template,
  scopes: (route.meta.access === undefined ? [] : scopesOf(route.meta.access)) as OperatorScope[], // of operatorKeyProcedure
  hasBody: route.hasBody,
  route,
}));

/** A request with valid input, for resources that do not exist. */
export function aRequest({ method, template, hasBody, route }: Operation, secret: string | null): Sent {
  const path = template.replaceAll(/\{(\w+)\}/g, 'unknown');
  const authorization: Record<string, string> = secret === null ? {} : { authorization: `Bearer ${secret}` };
  const { upload } = route.meta;
  if (upload !== undefined)
    return { method, path, headers: { ...authorization, 'content-type': upload.type }, body: upload.example };
  if (!hasBody) return { method, path, headers: authorization };
  return {
    method,
    path,
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify(route.meta.example?.body ?? {}),
  };
}
