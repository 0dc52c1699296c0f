import type { Example } from '../procedures/trpc.ts';
import type { FaceSettings } from './face-settings.ts';
import type { Route } from './routes.ts';

type CodeSample = { readonly lang: string; readonly label: string; readonly source: string };

/** Returns the calls of an operation in several languages, as `x-codeSamples` for the reference at `/docs`. */
export function codeSamples(
  { parameters, credentialVariable, hasClient }: FaceSettings,
  { operationId, method, template, pathParams }: Route,
  { body }: Example,
  baseUrl: string,
): CodeSample[] {
  const params = Object.fromEntries(pathParams.map((name) => [name, String(parameters[name]?.example ?? name)]));
  const url = `${baseUrl}${template.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? name)}`;
  const json = body === undefined ? '' : JSON.stringify(body);
  const input = { ...params, ...(body as object | undefined) }; // an example body is an object
  const typeScript = {
    lang: 'TypeScript',
    label: 'TypeScript',
    source: `import { createRoster } from '@roster/client';

const roster = createRoster({ baseUrl: '${baseUrl}', credential: process.env.${credentialVariable}! });
const result = await roster.${operationId}(${Object.keys(input).length === 0 ? '' : JSON.stringify(input, null, 2)});`,
  };

  return [
    {
      lang: 'Shell',
      label: 'curl',
      source: [
        `curl${method === 'GET' ? '' : ` -X ${method}`} ${url}`,
        `  -H "Authorization: Bearer $${credentialVariable}"`,
        ...(body === undefined ? [] : [`  -H 'Content-Type: application/json'`, `  -d '${json}'`]),
      ].join(' \\\n'),
    },
    ...(hasClient ? [typeScript] : []),
    {
      lang: 'Python',
      label: 'Python',
      source: `import os, requests

response = requests.${method.toLowerCase()}(
    "${url}",
    headers={"Authorization": f"Bearer {os.environ['${credentialVariable}']}"},${body === undefined ? '' : `\n    json=${toPython(body)},`}
)
response.raise_for_status()
result = response.json()`,
    },
  ];
}

function toPython(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toPython).join(', ')}]`;
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (value === null) return 'None';
  if (typeof value !== 'object') return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}: ${toPython(inner)}`)
    .join(', ')}}`;
}
