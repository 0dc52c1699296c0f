import { Argument, type Command } from 'commander';
import { readCatalogue } from '../resources/permissions/catalogue.queries.ts';
import { applyCatalogue } from '../resources/permissions/catalogue.service.ts';
import { readCatalogueFile } from '../resources/permissions/file.ts';
import type { CatalogueChange } from '../resources/permissions/permissions.schema.ts';
import { isHeld } from '../resources/permissions/holders.ts';
import { toTypeScript } from '../resources/permissions/typescript.ts';
import { CommandError } from './failure.ts';
import { withServices } from './operate.ts';

export function permissionsCommands(permissions: Command): void {
  permissions
    .command('list')
    .description('List the permissions of your product')
    .action(
      withServices(async ({ db }) => {
        const catalogue = await readCatalogue(db);
        const lines = catalogue.permissions.map(({ name, title }) => [
          name,
          title['en'] ?? Object.values(title)[0] ?? '',
        ]);
        return { json: catalogue, lines: lines.length === 0 ? ['There are no permissions of your product.'] : lines };
      }),
    );

  permissions
    .command('apply')
    .description('Replace the permissions of your product by those of a JSON file')
    .addArgument(new Argument('<file>', 'a JSON file: see docs/permissions.md'))
    .option('--dry-run', 'print what would change, and change nothing; fails if a decision is missing')
    .action(async (file: string, options: { dryRun?: true }, command: Command) =>
      withServices(async ({ db }, { dryRun = false }: { dryRun?: boolean }) => {
        const catalogue = readCatalogueFile(file, (fault) => new CommandError(fault));
        const change = await applyCatalogue(db, 'system', catalogue, { dryRun });
        const [first, ...others] = change.removed.filter(({ removal, ...held }) => removal === null && isHeld(held));
        const answer = { json: change, lines: describe(change) };
        if (first === undefined) return answer;
        const more = others.length === 0 ? '' : ` (and ${others.length} others)`;
        return { ...answer, failure: `${first.name} is held, and needs a decision in \`removals\`${more}` };
      })(options, command),
    );

  permissions
    .command('types')
    .description('Print TypeScript types of the permissions of your product')
    .action(
      withServices(async ({ db }) => {
        const catalogue = await readCatalogue(db);
        return { json: catalogue.permissions.map(({ name }) => name), lines: toTypeScript(catalogue).split('\n') };
      }),
    );
}

type Counted = CatalogueChange['removed'][number] | CatalogueChange['changed'][number];

const holdersOf = ({ roles, templates, keys, clients, grants }: Counted): string =>
  `${roles} roles, ${templates} templates, ${keys} keys, ${clients} clients, ${grants} grants`;

function describe({ version, isApplied, added, changed, removed }: CatalogueChange): string[] {
  const lines = [
    ...added.map((name) => `+ ${name}`),
    ...changed.map((each) => `~ ${each.name}  (${each.fields.join(', ')}; ${holdersOf(each)})`),
    ...removed.map((each) => `- ${each.name}  (${decisionOf(each)}; ${holdersOf(each)})`),
  ];
  const outcome = isApplied ? `Applied as version ${version}.` : `Nothing was changed. The version is ${version}.`;
  return [...lines, outcome];
}

const decisionOf = ({ removal, replaceWith }: CatalogueChange['removed'][number]): string => {
  if (removal === null) return 'no decision';
  return removal === 'drop' ? 'dropped' : `replaced with ${replaceWith}`;
};
