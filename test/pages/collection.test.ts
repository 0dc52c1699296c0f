import { expect } from 'vitest';
import { ALL_SCOPES, OPERATIONS } from '../rest/operations.ts';
import { test } from '../support/api.ts';

type Variable = { key: string; value: string };
type Item = {
  name: string;
  request: {
    method: string;
    header: Variable[];
    url: { raw: string; path: string[]; variable: Variable[] };
    body?: { raw: string };
  };
};

test('the collection has each operation once, and its requests are valid as they are', async ({ api }) => {
  const answer = await fetch(`http://127.0.0.1:${api.port}/docs/postman.json`);
  const collection = (await answer.json()) as { variable: Variable[]; item: { item: Item[] }[] };
  const requests = collection.item.flatMap(({ item }) => item);
  expect(collection.variable).toContainEqual({ key: 'baseUrl', value: api.services.config.baseUrl });
  const named = ({ request: { method, url } }: Item) =>
    `${method} /${url.path.join('/').replaceAll(/:(\w+)/g, '{$1}')}`;
  expect(requests.map(named).toSorted()).toEqual(OPERATIONS.map(({ method, path }) => `${method} ${path}`).toSorted());

  const { secret } = await api.anApiKey(await api.anAccount(), { scopes: [...ALL_SCOPES] });
  for (const { name, request } of requests) {
    const filled = request.url.variable.reduce(
      (url, { key, value }) => url.replace(`:${key}`, value),
      request.url.raw.replace('{{baseUrl}}', `http://127.0.0.1:${api.port}`),
    );
    const { status, headers } = await fetch(filled, {
      method: request.method,
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        ...Object.fromEntries(request.header.map(({ key, value }) => [key, value.replace('{{$guid}}', name)])),
      },
      ...(request.body && { body: request.body.raw }),
    });
    expect([name, status, headers.get('content-type')]).toEqual([
      name,
      expect.toSatisfy((code: number) => [200, 201, 403, 404].includes(code)),
      expect.stringMatching(/^application\/(problem\+)?json/),
    ]);
  }
});
