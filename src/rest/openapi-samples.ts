import type { Example } from '../procedures/meta.ts';
import type { FaceSettings } from './face-settings.ts';
import { describeParameter } from './openapi-parameters.ts';
import type { Route } from './routes.ts';

type CodeSample = { readonly lang: string; readonly label: string; readonly source: string };

/** Returns the calls of an operation in several languages, as `x-codeSamples` for the reference at `/docs`. */
export function codeSamples(face: FaceSettings, route: Route, { body }: Example, baseUrl: string): CodeSample[] {
  const { credentialVariable, client } = face;
  const { operationId, method, template, pathParams } = route;
  const { upload } = route.meta;
  const params = Object.fromEntries(
    pathParams.map((name) => [name, String(describeParameter(face, route, name).example)]),
  );
  const url = `${baseUrl}${template.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? name)}`;
  const json = body === undefined ? '' : JSON.stringify(body).replaceAll(`'`, `'\\''`);
  const input = { ...params, ...(body as object | undefined) }; // an example body is an object
  const rows = upload === undefined ? '' : "{ rows: await openAsBlob('rows') }";
  const typeScript = {
    lang: 'TypeScript',
    label: 'TypeScript',
    source: `${upload === undefined ? '' : "import { openAsBlob } from 'node:fs';\n"}import { ${client.factory} } from '@roster/client';

const ${client.variable} = ${client.factory}({ baseUrl: '${baseUrl}', ${client.option}: process.env.${credentialVariable}! });
const result = await ${client.variable}.${operationId}(${Object.keys(input).length === 0 ? rows : toTypeScript(input)});`,
  };

  return [
    {
      lang: 'Shell',
      label: 'curl',
      source: [
        `curl${method === 'GET' ? '' : ` -X ${method}`} ${url}`,
        `  -H "Authorization: Bearer $${credentialVariable}"`,
        ...(upload === undefined ? [] : [`  -H 'Content-Type: ${upload.type}'`, `  --data-binary @rows`]),
        ...(body === undefined ? [] : [`  -H 'Content-Type: application/json'`, `  -d '${json}'`]),
      ].join(' \\\n'),
    },
    typeScript,
    {
      lang: 'Python',
      label: 'Python',
      source: `import os, requests

response = requests.${method.toLowerCase()}(
    "${url}",
    headers={"Authorization": f"Bearer {os.environ['${credentialVariable}']}"${upload === undefined ? '' : `, "Content-Type": "${upload.type}"`}},${upload === undefined ? '' : '\n    data=open("rows", "rb"),'}${body === undefined ? '' : `\n    json=${toPython(body)},`}
)
response.raise_for_status()
result = response.json()`,
    },
  ];
}

/** Prints a value as a literal: members of the outer object on lines of their own. */
function toTypeScript(value: unknown, isOuter = true): string {
  if (Array.isArray(value)) return `[${value.map((one) => toTypeScript(one, false)).join(', ')}]`;
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll(`'`, `\\'`)}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).map(
    ([key, inner]) => `${/^[A-Za-z]\w*$/.test(key) ? key : `'${key}'`}: ${toTypeScript(inner, false)}`,
  );
  return isOuter ? `{\n${members.map((member) => `  ${member},\n`).join('')}}` : `{ ${members.join(', ')} }`;
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
