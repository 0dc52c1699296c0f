import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SCOPES } from '../src/entities/index.ts';
import { EVENTS } from '../src/events/catalogue.ts';
import type { EventDefinition } from '../src/events/definition.ts';
import { scopesOf } from '../src/procedures/authorize.ts';
import { definitionOf, proceduresOf } from '../src/procedures/definition.ts';
import type { Meta } from '../src/procedures/meta.ts';
import { appRouter } from '../src/router.ts';

const ROOT = join(import.meta.dirname, '..');

const ALL = Object.values<EventDefinition>(EVENTS);
const DELIVERED = ALL.filter(({ isDelivered }) => isDelivered);
const countOf = (audience: EventDefinition['audience']) =>
  DELIVERED.filter((definition) => definition.audience === audience).length;

/** The procedures that a first-party token can call, by the scopes that each needs. */
function listFirstPartyProcedures(): string {
  const rows = new Map<string, string[]>();
  for (const [name, procedure] of Object.entries(proceduresOf(appRouter))) {
    const { access } = definitionOf<Meta>(procedure).meta ?? {};
    if (access === undefined || access.isOperatorApi || access.operatorOnly) continue;
    if (access.sessionOnly && access.firstParty === undefined) continue;
    const scopes = access.firstParty === undefined ? scopesOf(access) : [access.firstParty];
    const needed = scopes.map((scope) => `\`${scope}\``).join(', ') || 'none';
    rows.set(needed, [...(rows.get(needed) ?? []), name]);
  }
  const order = (needed: string) => SCOPES.findIndex((scope) => needed.startsWith(`\`${scope}\``));
  return [
    '| scopes | procedures |',
    '|---|---|',
    ...[...rows]
      .toSorted(([a], [b]) => order(a) - order(b) || a.length - b.length)
      .map(([needed, names]) => `| ${needed} | \`${names.toSorted().join('`, `')}\` |`),
  ].join('\n');
}

/** The passages of the documentation that have lists and numbers of the code, by the name of their marker. */
export const PASSAGES: Readonly<Record<string, string>> = {
  'catalogue-size': `${ALL.length} events, of which ${DELIVERED.length} are delivered, ${countOf('team')} of them to teams, ${countOf('account')} to accounts and ${countOf('operator')} to the operator only; ${ALL.length - DELIVERED.length} are in the audit log alone`,
  'audit-only': `${ALL.length - DELIVERED.length}`,
  'first-party-procedures': `\n${listFirstPartyProcedures()}\n`,
};

/** The pages with such passages: between `<!-- name -->` and `<!-- /name -->`. */
export const FILLED_PAGES = ['docs/events.md', 'docs/sign-in-with-roster.md'] as const;

/** Returns a page with its passages as the code has them. @throws if it names a passage that does not exist */
export const fillPage = (page: string): string =>
  page.replaceAll(/<!-- ([a-z-]+) -->[^]*?<!-- \/\1 -->/g, (_, name: string) => {
    const passage = PASSAGES[name];
    if (passage === undefined) throw new Error(`There is no passage ${name}.`);
    return `<!-- ${name} -->${passage}<!-- /${name} -->`;
  });

if (import.meta.main)
  for (const page of FILLED_PAGES) {
    const path = join(ROOT, page);
    writeFileSync(path, fillPage(readFileSync(path, 'utf8')));
  }
