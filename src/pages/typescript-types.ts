import { z } from 'zod';

type Schema = z.core.JSONSchema.BaseSchema;

/** How a type is written: on one line with references resolved, or as a declaration with comments. */
export type TypeStyle = { readonly reference?: (name: string) => string; readonly isDeclaration?: boolean };

/**
 * Renders a zod schema as a TypeScript type. With `reference`, schemas that have an id are referred to by name and
 * collected in `named`; without, they are resolved.
 */
export function toTypeText(
  schema: z.ZodType,
  io: 'input' | 'output',
  style: TypeStyle = {},
  named = new Map<string, Schema>(),
): string {
  const { $defs = {}, ...root } = z.toJSONSchema(schema, { io });
  for (const [name, definition] of Object.entries($defs)) named.set(name, definition);
  return toTypeScript(root, style, named);
}

const ANY_STRING = /^string( \| null)?$/;
const isKnown = (type: string): boolean => !ANY_STRING.test(type) && type !== 'null';

/** Renders a JSON schema as zod generates it. */
export function toTypeScript(schema: Schema, style: TypeStyle, named: ReadonlyMap<string, Schema>): string {
  const { $ref, type, properties, required = [], items, anyOf, enum: values, additionalProperties } = schema;
  const inner = (part: unknown) => toTypeScript((part ?? {}) as Schema, style, named); // zod writes schemas, or booleans for any value
  if ($ref !== undefined) {
    const name = $ref.replace('#/$defs/', '');
    return style.reference?.(name) ?? inner(named.get(name));
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (Array.isArray(type)) return type.map((one) => inner({ ...schema, type: one })).join(' | ');
  if (anyOf !== undefined) {
    const types = anyOf.map(inner);
    // `'a' | string` would be plain string, without completion of the known values.
    const isOpen = style.isDeclaration && types.some((one) => ANY_STRING.test(one)) && types.some(isKnown);
    return types.map((one) => (isOpen ? one.replace(ANY_STRING, '(string & {})$1') : one)).join(' | ');
  }
  if (type === 'array') return `Array<${inner(items)}>`;
  if (type === 'integer') return 'number';
  if (type !== 'object') return String(type ?? 'unknown');
  if (properties === undefined) {
    const member = inner(additionalProperties);
    return member === 'unknown' && !style.isDeclaration ? 'object' : `Record<string, ${member}>`;
  }
  const members = Object.entries(properties).map(([name, member]) => {
    const text = `${name}${required.includes(name) ? '' : '?'}: ${inner(member)}`;
    // For readers with exactOptionalPropertyTypes: JSON has no undefined, so it is the same as a missing member.
    return style.isDeclaration ? `${comment(member)}${text}${required.includes(name) ? '' : ' | undefined'}` : text;
  });
  return `{ ${members.join('; ')} }`;
}

const comment = (member: unknown): string => {
  const { description, deprecated, default: value } = member as Schema; // as above
  const text = [
    deprecated === true ? '@deprecated' : undefined,
    description,
    value === undefined ? undefined : `Default: ${JSON.stringify(value)}.`,
  ].filter(Boolean);
  return text.length === 0 ? '' : `\n/** ${text.join(' ')} */\n`;
};
