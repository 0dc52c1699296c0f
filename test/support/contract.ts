import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Answer } from './client.ts';

export type Contract = {
  /** Throws where an answer is not what the document declares for it. */
  check(method: string, path: string, answer: Answer): void;
};

type Media = { schema: object; examples?: Record<string, unknown> };
type Response = { content?: Record<string, Media> };
type Operation = { responses: Record<string, Response> };
type Document = { paths: Record<string, Record<string, Operation>> };

const RATE = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'ratelimit-policy', 'ratelimit'];

/**
 * Checks answers against an OpenAPI document: status and error code declared for the operation, content type, body
 * schema without other members, headers of every answer.
 */
export function contractOf(document: object): Contract {
  const { paths } = document as Document; // the document under test; what is missing fails the check
  const [, prefix = ''] = /^(\/\w+\/v1)\//.exec(Object.keys(paths)[0] ?? '') ?? [];
  const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }));
  ajv.addSchema({ $id: 'openapi', ...closed(document) });
  const validators = new Map<string, ValidateFunction>();
  const templates = Object.keys(paths).map((template) => ({
    template,
    pattern: new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
  }));

  return {
    check(method, path, answer) {
      const fail = (why: string): never => {
        throw new Error(
          `${method} ${path} → ${answer.status} breaks the contract: ${why}\n${answer.text.slice(0, 1000)}`,
        );
      };
      const [plain = ''] = path.split('?');
      if (!plain.startsWith(prefix)) return;
      for (const name of [...RATE, 'x-request-id']) if (answer.headers[name] === undefined) fail(`no ${name}`);
      if (answer.status >= 400) {
        requireType(answer, 'application/problem+json', fail);
        if (method === 'HEAD') return;
        validate('#/components/schemas/Problem', answer.body, fail);
        if (answer.body.status !== answer.status) fail('the document names another status');
        if (answer.body.requestId !== answer.headers['x-request-id']) fail('the document names another request');
      }
      const template = templates.find(({ pattern }) => pattern.test(plain))?.template;
      const operation = template === undefined ? undefined : paths[template]?.[method.toLowerCase()];
      if (template === undefined || operation === undefined) return;

      const declared = operation.responses[answer.status] ?? operation.responses['default'];
      if (declared === undefined) return fail('the status is not declared');
      if (answer.status >= 400) {
        const codes = Object.keys(declared.content?.['application/problem+json']?.examples ?? {});
        return codes.includes(answer.body.code) ? undefined : fail(`the code ${answer.body.code} is not declared`);
      }
      if (operation.responses[answer.status] === undefined) fail('the success status is not declared');
      requireType(answer, 'application/json', fail);
      const media = declared.content?.['application/json'];
      if (media === undefined) return fail('no schema is declared');
      const pointer = `#/paths/${template.replaceAll('~', '~0').replaceAll('/', '~1')}/${method.toLowerCase()}/responses/${answer.status}/content/application~1json/schema`;
      validate(pointer, answer.body, fail);
    },
  };

  function validate(pointer: string, body: unknown, fail: (why: string) => never): void {
    let validator = validators.get(pointer);
    if (validator === undefined) {
      validator = ajv.compile({ $ref: `openapi${pointer.replaceAll('{', '%7B').replaceAll('}', '%7D')}` });
      validators.set(pointer, validator);
    }
    if (!validator(body)) fail(ajv.errorsText(validator.errors));
  }
}

/** Checks each answer against all contracts; those of other paths pass. */
export const allContracts = (...contracts: readonly Contract[]): Contract => ({
  check: (...answered) => contracts.forEach((contract) => contract.check(...answered)),
});

/** The document is open to new members; a test fails on one that the document does not describe. */
function closed<Node>(node: Node): Node {
  if (Array.isArray(node)) return node.map(closed) as Node; // the same array, closed
  if (typeof node !== 'object' || node === null) return node;
  const inner = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
  const isObject = 'properties' in node && 'type' in node && !('additionalProperties' in node);
  return (isObject ? { ...inner, additionalProperties: false } : inner) as Node; // as above
}

function requireType({ headers }: Answer, type: string, fail: (why: string) => never): void {
  if (headers['content-type']?.split(';')[0] !== type)
    fail(`the content type is ${headers['content-type']}, not ${type}`);
}
