import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';

export const SRC = join(import.meta.dirname, '../../src');

/** A node of the syntax tree (ESTree with JSX and TypeScript). */
export type Node = {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [member: string]: unknown;
};

export const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';

export function walk(node: Node, visit: (node: Node, parent: Node | undefined) => void, parent?: Node): void {
  visit(node, parent);
  for (const value of Object.values(node))
    for (const inner of Array.isArray(value) ? (value as unknown[]) : [value])
      if (isNode(inner)) walk(inner, visit, node);
}

export const parse = (file: string): { source: string; program: Node } => {
  const source = readFileSync(join(SRC, file), 'utf8');
  return { source, program: parseSync(file, source).program as unknown as Node };
};

/** Members of objects and attributes whose values are shown as they are. What is passed in them is checked there. */
const PASSED = new Set('caption detail explanation heading hint label title'.split(' '));
/** Other attributes. Members with these names are also sent to the service. */
const SHOWN = new Set([...PASSED, ...'alt aria-description aria-label description placeholder text'.split(' ')]);

/** Functions whose results were neutralized, or have names in texts only. */
export const NEUTRAL = new Set(
  (
    'neutralize neutralizeLines toReadableJson isolateName getDisplayName getTeamName getAccountName getMemberName getRoleLabel getRoleName ' +
    'describeEvent describeOwnEvent'
  ).split(' '),
);

/** Dates, numbers and names of countries and languages, as the browser writes them. */
const FORMATTED = new Set('calendarDay country day getLanguageName minute number shortCalendarDay time'.split(' '));

/** Parameters that are texts of the console wherever they have these names. */
const TEXTS = new Set(['children', 'words', 'texts', ...PASSED]);
/** Methods whose result has the parts of what they are called on. */
const KEEPING = new Set(['filter', 'join', 'replace', 'slice', 'trim']);

type Declared = ReadonlyMap<string, readonly Node[]>;

/** The values of the constants and functions of a file. A name that is declared twice has two. */
export function declarationsOf(program: Node): Declared {
  const found = new Map<string, Node[]>();
  const add = (name: string, value: unknown) => isNode(value) && found.set(name, [...(found.get(name) ?? []), value]);
  walk(program, (node) => {
    if (node.type === 'VariableDeclarator' && isNode(node['id']) && node['id'].type === 'Identifier')
      add(String(node['id']['name']), node['init']);
    if (node.type === 'FunctionDeclaration' && isNode(node['id'])) add(String(node['id']['name']), node);
  });
  return found;
}

export const importsOf = (program: Node, pattern: RegExp): ReadonlySet<string> => {
  const found = new Set<string>();
  walk(program, (node) => {
    if (node.type !== 'ImportDeclaration' || !pattern.test(String((node['source'] as Node)['value']))) return;
    for (const { local } of node['specifiers'] as { local: { name: string } }[]) found.add(local.name);
  });
  return found;
};

export const nameOf = (node: Node): string =>
  node.type === 'Identifier' || node.type === 'JSXIdentifier' ? String(node['name']) : '';

/** Returns the parts of an expression that can be shown: those of its branches, and of what it was computed from. */
export function leavesOf(node: Node, declared: Declared, texts: ReadonlySet<string>, seen = new Set<Node>()): Node[] {
  if (seen.has(node)) return [];
  seen.add(node);
  const of = (...keys: string[]) =>
    keys.flatMap((key) => (isNode(node[key]) ? leavesOf(node[key], declared, texts, seen) : []));
  switch (node.type) {
    case 'Literal':
    case 'JSXElement':
    case 'JSXFragment':
    case 'JSXEmptyExpression':
      return [];
    case 'ConditionalExpression':
      return of('consequent', 'alternate');
    case 'LogicalExpression':
      return node['operator'] === '&&' ? of('right') : of('left', 'right');
    case 'BinaryExpression':
      return node['operator'] === '+' ? of('left', 'right') : [];
    case 'ParenthesizedExpression':
    case 'TSAsExpression':
    case 'TSNonNullExpression':
    case 'ChainExpression':
      return of('expression');
    case 'TemplateLiteral':
      return (node['expressions'] as Node[]).flatMap((one) => leavesOf(one, declared, texts, seen));
    case 'ArrayExpression':
      return (node['elements'] as Node[]).flatMap((one) => leavesOf(one, declared, texts, seen));
    case 'ArrowFunctionExpression':
    case 'FunctionExpression':
    case 'FunctionDeclaration': {
      const body = node['body'] as Node;
      if (body.type !== 'BlockStatement') return leavesOf(body, declared, texts, seen);
      const returned: Node[] = [];
      walk(body, (inner) => {
        if (inner.type === 'ReturnStatement' && isNode(inner['argument'])) returned.push(inner['argument']);
      });
      return returned.flatMap((one) => leavesOf(one, declared, texts, seen));
    }
    case 'Identifier': {
      if (texts.has(nameOf(node)) || TEXTS.has(nameOf(node)) || nameOf(node) === 'undefined') return [];
      const values = declared.get(nameOf(node));
      return values === undefined ? [node] : values.flatMap((one) => leavesOf(one, declared, texts, seen));
    }
    case 'MemberExpression':
      return isText(node, declared, texts) || PASSED.has(nameOf(node['property'] as Node)) ? [] : [node];
    case 'CallExpression': {
      const callee = node['callee'] as Node;
      const name = nameOf(callee.type === 'MemberExpression' ? (callee['property'] as Node) : callee);
      if (isText(callee, declared, texts) || NEUTRAL.has(name) || FORMATTED.has(name)) return [];
      if (callee.type === 'Identifier' && declared.has(name)) return leavesOf(callee, declared, texts, seen);
      const given = node['arguments'] as Node[];
      const made = given.filter(({ type }) => type === 'ArrowFunctionExpression');
      if ((name === 'map' || name === 'from') && made.length > 0)
        return made.flatMap((one) => leavesOf(one, declared, texts, seen));
      if (name === 'map' && given.some((one) => NEUTRAL.has(nameOf(one)))) return [];
      if (KEEPING.has(name)) return leavesOf(callee['object'] as Node, declared, texts, seen);
      return [node];
    }
    default:
      return [node];
  }
}

/** Whether an expression is a text of the console, or one of its groups. */
function isText(node: Node, declared: Declared, texts: ReadonlySet<string>): boolean {
  if (node.type === 'Identifier') {
    if (texts.has(nameOf(node)) || TEXTS.has(nameOf(node))) return true;
    const values = declared.get(nameOf(node)) ?? [];
    return values.length > 0 && values.every((value) => value !== node && isText(value, declared, texts));
  }
  if (node.type === 'CallExpression') return isText(node['callee'] as Node, declared, texts);
  if (node.type === 'MemberExpression') return isText(node['object'] as Node, declared, texts);
  if (node.type === 'ConditionalExpression')
    return ['consequent', 'alternate'].every((branch) => isText(node[branch] as Node, declared, texts));
  return ['ChainExpression', 'ParenthesizedExpression', 'TSAsExpression', 'TSNonNullExpression'].includes(node.type)
    ? isText(node['expression'] as Node, declared, texts)
    : false;
}

/** Returns what a file of the console shows, and neither is its own text nor goes through `Name`. */
export function shownIn(file: string): string[] {
  const { source, program } = parse(file);
  const declared = declarationsOf(program);
  const texts = importsOf(program, /\/messages\/(?!neutralize)/);
  const shown: Node[] = [];
  walk(program, (node, parent) => {
    if (node.type === 'JSXExpressionContainer' && (parent?.type === 'JSXElement' || parent?.type === 'JSXFragment')) {
      const element = isNode(parent['openingElement']) ? nameOf(parent['openingElement']['name'] as Node) : '';
      if (element !== 'Name') shown.push(node['expression'] as Node);
    }
    if (node.type === 'JSXAttribute' && SHOWN.has(nameOf(node['name'] as Node))) {
      const value = node['value'];
      if (isNode(value) && value.type === 'JSXExpressionContainer') shown.push(value['expression'] as Node);
    }
    if (node.type === 'Property' && parent?.type === 'ObjectExpression' && PASSED.has(nameOf(node['key'] as Node)))
      shown.push(node['value'] as Node);
  });
  return shown
    .flatMap((expression) => leavesOf(expression, declared, texts))
    .map((leaf) => source.slice(leaf.start, leaf.end).replaceAll(/\s+/g, ''));
}
