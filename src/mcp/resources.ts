import type { McpServer } from '@modelcontextprotocol/server';
import { PROBLEMS } from '../problems/catalogue.ts';

/** What clients can read besides calling tools. */
export type Resources = { register(server: McpServer): void };

const JSON_TYPE = 'application/json';

/**
 * Creates the resources: the specification and the error codes.
 * @param describe generates the OpenAPI document; called once, by the first read
 */
export function createResources(baseUrl: string, describe: () => Promise<object>): Resources {
  let specification: Promise<string> | undefined;
  const readSpecification = (): Promise<string> =>
    (specification ??= describe().then(
      (document) => JSON.stringify(document, withoutSamples),
      (error: unknown) => {
        specification = undefined; // so that the next read tries again
        throw error;
      },
    ));
  const problems = JSON.stringify(
    Object.entries(PROBLEMS).map(([code, [status, title, advice]]) => ({ code, status, title, advice })),
  );
  const resources = [
    {
      name: 'specification',
      uri: `${baseUrl}/api/v1/openapi.json`,
      title: 'Specification of the REST API',
      description:
        'The OpenAPI 3.1 document of the operations behind the tools, without code samples and examples. About 150 kB.',
      read: readSpecification,
    },
    {
      name: 'errors',
      uri: `${baseUrl}/problems`,
      title: 'Error codes',
      description: 'All error codes, and what to do about each.',
      read: () => problems,
    },
  ];
  return {
    register(server) {
      for (const { name, uri, title, description, read } of resources)
        server.registerResource(name, uri, { title, description, mimeType: JSON_TYPE }, async () => ({
          contents: [{ uri, mimeType: JSON_TYPE, text: await read() }],
        }));
    },
  };
}

/** Leaves out what is half of the document and of no use to a model. */
const withoutSamples = (key: string, value: unknown): unknown =>
  key === 'x-codeSamples' || key === 'examples' ? undefined : value;
