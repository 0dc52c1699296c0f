import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export type Instruction = { readonly name: string; readonly args: string };
export type Stage = { readonly name: string | undefined; readonly instructions: readonly Instruction[] };

/** The stages of our Dockerfile, which has one instruction a line; the last one is the image. */
export function stagesOfDockerfile(): Stage[] {
  const stages: { name: string | undefined; instructions: Instruction[] }[] = [];
  for (const line of linesOf('Dockerfile')) {
    const [name = '', ...words] = line.split(' ');
    if (name === 'FROM') stages.push({ name: /AS (\w+)$/.exec(line)?.[1], instructions: [] });
    else stages.at(-1)?.instructions.push({ name, args: words.join(' ') });
  }
  return stages;
}

export type Copy = { readonly from: string | undefined; readonly sources: readonly string[]; readonly target: string };

export const copiesOf = ({ instructions }: Stage): Copy[] =>
  instructions
    .filter(({ name }) => name === 'COPY')
    .map(({ args }) => {
      const words = args.split(' ');
      const from = /^--from=(\w+)$/.exec(words[0] ?? '')?.[1];
      const paths = from === undefined ? words : words.slice(1);
      return { from, sources: paths.slice(0, -1), target: paths.at(-1) ?? '' };
    });

/** The one instruction of a name. */
export function instruction({ instructions }: Stage, name: string): string {
  const [only, ...more] = instructions.filter((candidate) => candidate.name === name);
  if (only === undefined || more.length > 0) throw new Error(`The image has ${more.length + 1} of ${name}.`);
  return only.args;
}

export const commandIn = (args: string): string[] => JSON.parse(args.slice(args.indexOf('['))) as string[]; // the exec form

export const environmentOf = (stage: Stage): Record<string, string> =>
  Object.fromEntries(
    instruction(stage, 'ENV')
      .split(' ')
      .map((pair) => pair.split('=') as [string, string]), // none of the values has an equals sign
  );

/** The names at the top of the repository that `.dockerignore`, a list of what is allowed, lets through. */
export function allowedInContext(): Set<string> {
  const [everything, ...allowed] = linesOf('.dockerignore');
  if (everything !== '*' || allowed.some((line) => !/^![\w.-]+$/.test(line)))
    throw new Error('.dockerignore is more than a list of what is allowed.');
  return new Set(allowed.map((line) => line.slice(1)));
}

function linesOf(file: string): string[] {
  return readFileSync(join(ROOT, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
}
