import { toTypeScript } from '../../../src/pages/typescript-types.ts';

/** A JSON Schema as zod writes it. */
export type Definition = Parameters<typeof toTypeScript>[0];
type Definitions = Readonly<Record<string, Definition>>;

export const STYLE = { reference: (name: string) => name, isDeclaration: true };

/** Types that another module declares, by the name of their schema. */
export type Declared = ReadonlyMap<string, { readonly type: string; readonly file: string; readonly name: string }>;

export const typeOf = (definition: Definition): string => toTypeScript(definition, STYLE, new Map());

/** The type of what callers send, which constants can be. */
export const inputTypeOf = (definition: Definition): string =>
  typeOf(definition).replaceAll(/\bArray</g, 'ReadonlyArray<');

/** The types that a module declares under the names of their schemas. */
export const declaredIn = (file: string, definitions: Definitions): Declared =>
  new Map(Object.entries(definitions).map(([name, definition]) => [name, { type: typeOf(definition), file, name }]));

/**
 * Declares the types of schemas, and imports those that another module declares alike.
 * @param using the rest of the module: only what it refers to is declared
 */
export function declareTypes(definitions: Definitions, elsewhere: Declared, using: string) {
  const shared = findShared(definitions, elsewhere);
  const needed = findNeeded(definitions, using);
  const byFile = Map.groupBy(
    needed.flatMap((name) => (shared.has(name) ? { as: name, ...elsewhere.get(name) } : [])),
    ({ file }) => file,
  );
  const imports = [...byFile].map(([file, types]) => {
    const names = types.map(({ name, as }) => (name === as ? as : `${name} as ${as}`));
    return `import type { ${names.join(', ')} } from '${file}';\n`;
  });
  const own = needed.filter((name) => !shared.has(name)).map((name) => declare(name, definitions[name] ?? {}));
  return { imports: imports.join(''), own: own.join('') };
}

/** Returns the types that are declared alike elsewhere, with all that they refer to. */
function findShared(definitions: Definitions, elsewhere: Declared): Set<string> {
  const alike = Object.entries(definitions).filter(([name, one]) => elsewhere.get(name)?.type === typeOf(one));
  const shared = new Set(alike.map(([name]) => name));
  for (let size = -1; size !== shared.size;) {
    size = shared.size;
    for (const name of shared)
      if (!referencesOf(definitions[name]).every((one) => shared.has(one))) shared.delete(name);
  }
  return shared;
}

/** Returns the types that a text refers to, also through others, in the order of their schemas. */
function findNeeded(definitions: Definitions, using: string): string[] {
  const needed = new Set(Object.keys(definitions).filter((name) => new RegExp(`\\b${name}\\b`).test(using)));
  for (const name of needed) for (const one of referencesOf(definitions[name])) needed.add(one);
  return Object.keys(definitions).filter((name) => needed.has(name));
}

const referencesOf = (definition: Definition | undefined): string[] =>
  [...JSON.stringify(definition ?? {}).matchAll(/"#\/\$defs\/(\w+)"/g)].map(([, name = '']) => name);

const declare = (name: string, definition: Definition): string =>
  `${docOf(definition.description)}export type ${name} = ${name.endsWith('Body') ? inputTypeOf(definition) : typeOf(definition)};\n`;

export const docOf = (text: string | undefined): string =>
  text === undefined
    ? ''
    : !text.includes('\n')
      ? `/** ${text} */\n`
      : `/**\n * ${text.replaceAll('\n', '\n * ')}\n */\n`;
