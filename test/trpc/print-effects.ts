/**
 * Prints every mutation of the router as a row of a table: its effect, and the proof, notice, lock and access that follow
 * from it: `node bin/run.cjs test/trpc/print-effects.ts`.
 */
import type { Access } from '../../src/procedures/authorize.ts';
import { definitionOf, proceduresOf } from '../../src/procedures/definition.ts';
import type { Meta } from '../../src/procedures/meta.ts';
import { appRouter } from '../../src/router.ts';
import { TABLE } from './access-table.ts';
import { WITHOUT_CALLER, WITHOUT_NOTICE } from './exempt-mutations.ts';

function describeProof({ effect = 'none', access }: Meta): string {
  if (effect === 'none') return '';
  if (effect.endsWith(' by link')) return 'the link';
  if (access?.isOperatorApi) return 'none: an operator key';
  const when = effect.startsWith('widens if ') ? effect.slice('widens '.length) : 'always';
  return access?.sessionOnly ? when : `${when}, of sessions and first-party tokens`;
}

function describeAccess(name: string, access: Access | undefined): string {
  if (access === undefined) return 'anyone';
  const { scope, otherScopes = [], permission, otherPermissions = [], firstParty } = access;
  const needed = [scope, ...otherScopes, permission, ...otherPermissions].filter((one) => one !== null);
  const who = access.isOperatorApi
    ? 'operator key'
    : access.operatorOnly
      ? 'operator'
      : access.sessionOnly
        ? 'session'
        : '';
  const listed = TABLE[name]?.who;
  const inTeam = Array.isArray(listed) ? listed : listed === 'member' || listed === 'owner' ? [listed] : [];
  const apps = firstParty === undefined ? [] : [`or a first-party token with ${firstParty}`];
  return [who, ...new Set([...needed, ...inTeam]), ...apps].filter(Boolean).join(', ');
}

const rows = Object.entries(proceduresOf(appRouter)).flatMap(([name, procedure]) => {
  const { type, meta = {} } = definitionOf<Meta>(procedure);
  if (type !== 'mutation') return [];
  const { effect = 'none', access } = meta;
  const untold = WITHOUT_NOTICE[name.replace(/^operatorApi\./, 'operator.')];
  const notice = effect === 'none' ? '' : untold === undefined ? 'email' : `none: ${untold}`;
  const lock = WITHOUT_CALLER[name] ?? 'the caller again';
  return [`| ${[name, effect, describeProof(meta), notice, lock, describeAccess(name, access)].join(' | ')} |`];
});

const HEAD = ['| procedure | effect | proof | notice | lock | access |', '|---|---|---|---|---|---|'];
process.stdout.write(`${[...HEAD, ...rows].join('\n')}\n\n${rows.length} mutations.\n`);
