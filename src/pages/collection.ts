import { Router } from 'express';
import type { FaceSettings } from '../rest/face-settings.ts';
import type { Route, RouteTable } from '../rest/routes.ts';

const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** `GET /docs/postman.json`: the operations as a collection (v2.1) for Postman, Bruno, Insomnia and others. */
export function collectionPages(
  { settings, routes }: { settings: FaceSettings; routes: RouteTable },
  baseUrl: string,
): Router {
  const folders = Object.values(settings.tags).map(({ name, description }) => ({
    name,
    description,
    item: routes.routes
      .filter(({ template }) => settings.tags[settings.tagOf(template.split('/')) ?? '']?.name === name)
      .map((route) => toItem(settings, route)),
  }));
  const collection = JSON.stringify({
    info: { name: settings.title, description: settings.description, schema: SCHEMA },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{credential}}', type: 'string' }] },
    variable: [
      { key: 'baseUrl', value: baseUrl },
      { key: 'credential', value: '' },
    ],
    item: folders,
  });
  const pages = Router();
  pages.get('/docs/postman.json', (_req, res) => {
    res.set('Cache-Control', 'public, max-age=300').type('json').send(collection);
  });
  return pages;
}

function toItem({ parameters, examples }: FaceSettings, route: Route) {
  const { operationId, method, template, pathParams, queryParams, takesIdempotencyKey, meta } = route;
  const { body } = examples[operationId] ?? meta.example ?? {};
  const exampleOf = (name: string) =>
    String((parameters[`${operationId}.${name}`] ?? parameters[name])?.example ?? name);
  const path = template.slice(1).replaceAll(/\{(\w+)\}/g, ':$1');
  return {
    name: meta.openapi?.summary ?? operationId,
    request: {
      method,
      description: meta.openapi?.description ?? '',
      header: takesIdempotencyKey ? [{ key: 'Idempotency-Key', value: '"{{$guid}}"' }] : [],
      url: {
        raw: `{{baseUrl}}/${path}`,
        host: ['{{baseUrl}}'],
        path: path.split('/'),
        variable: pathParams.map((key) => ({ key, value: exampleOf(key) })),
        query: queryParams.map((key) => ({ key, value: exampleOf(key), disabled: true })),
      },
      ...(body !== undefined && {
        body: { mode: 'raw', raw: JSON.stringify(body, null, 2), options: { raw: { language: 'json' } } },
      }),
    },
  };
}
