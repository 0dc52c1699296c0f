import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  declarationsOf,
  importsOf,
  isNode,
  leavesOf,
  nameOf,
  NEUTRAL,
  parse,
  shownIn,
  SRC,
  walk,
  type Node,
} from './shown-expressions.ts';

/** The same in one file, and values of the service: ids, codes, numbers, versions, addresses of the network. */
const IN_FILE: Readonly<Record<string, string>> = {
  'pages/webhooks/deliveries-page.tsx': 'back',
  'pages/webhooks/delivery-row.tsx': 'type webhookId',
  'pages/webhooks/endpoint-row.tsx': 'types',
  'pages/webhooks/event-types.tsx': 'type',
  'pages/team/audit.tsx': 'description',
  'pages/team/settings/delete-team.tsx': 'part',
  // The operator writes the catalogue of permissions.
  'pages/team/roles/permission-details.tsx': 'permission.name permission.description',
  'components/permissions/permission-picker.tsx': 'description refusal permission.description',
  'pages/team/overview/cards.tsx': 'value',
  'pages/team/members/columns.tsx': 'roleId',
  'pages/team/members/member-menu.tsx': 'LABELS[action]',
  'pages/team/invitations/results.tsx': 'faultText(fault) failure.requestId',
  'pages/team/billing/plan.tsx': 'planName',
  'pages/team/audit/columns.tsx': 'address text',
  'pages/team/audit/event-cell.tsx': 'part',
  'pages/team/audit/filter-bar.tsx': 'last4',
  'pages/operator/catalogue-changes.tsx': 'name what',
  'pages/operator/change-catalogue.tsx': 'pointer',
  'pages/operator/permission-columns.tsx': 'name',
  'pages/operator/account-details.tsx': 'preferredLocale',
  'pages/operator/audit-columns.tsx': 'event target.id',
  'pages/operator/audit-filters.tsx': 'value',
  'pages/operator/client-columns.tsx':
    '...(isDevelopment?[marks.development]:[]) ...(scopes??openidScopes??[]) ...permissions client.id marks.firstParty marks.others',
  'pages/operator/client-fields.tsx': 'description scope',
  'pages/operator/create-operator-key.tsx': 'scope',
  'pages/operator/disabling.tsx': 'line',
  'pages/operator/fact.tsx': 'count',
  'pages/operator/found.tsx': 'slug',
  'pages/operator/health.tsx': 'version',
  'pages/operator/job-columns.tsx': 'task kind id',
  'pages/operator/key-columns.tsx': 'keyPrefix last4 scopes',
  'pages/operator/list-search.tsx': 'filter.all',
  'pages/operator/list.tsx': 'shown.length',
  'pages/operator/operator-key-columns.tsx':
    'none (isDay?day:minute)(at) operatorKey.keyPrefix operatorKey.last4 operatorKey.scopes',
  'pages/operator/queue.tsx': 'failure.task',
  'pages/operator/search-page.tsx': 'create(()=>setCreating(false))',
  'pages/operator/subscription-dialog.tsx': 'subscription.planName',
  'pages/operator/subscription.tsx': 'planName planWords.statuses[status] planWords.intervals[interval] name count',
  'pages/operator/team-details.tsx': 'slug',
  'pages/home/waiting.tsx': 'text',
  'pages/api-keys/key-cell.tsx': 'apiKey.keyPrefix apiKey.last4 scope permission titles.get(permission)',
  'pages/api-keys/scopes-field.tsx': 'noScopes',
  'pages/api-keys/key-menu.tsx': 'of',
  'pages/account/passkeys.tsx': "passkeyErrorText(form.error,'notCreated') submit",
  'pages/account/sessions.tsx': 'browser os session.city',
  'frame/notice-menu.tsx': 'text',
  'components/brand.tsx': 'BRAND.name',
  'components/confirmation.tsx': 'submit',
  'components/copyable.tsx': 'value',
  'components/day-plot.tsx': 'barTitle({day:calendarDay(day),value}) dayTitle valueTitle',
  'components/failure-alert.tsx': 'retryLabel id',
  'components/form-dialog.tsx': 'rest.submit',
  'components/link-page.tsx': 'alreadyTitle already(verified) invalid another next',
  'components/notices.tsx': 'message',
  'components/page.tsx': 'useWindowTitle(title) action',
  'components/passkey-button.tsx': "passkeyErrorText(passkey.error,'notUsed')",
  'components/scope-choice.tsx': 'description presets scope',
  'components/shortcuts-dialog.tsx': 'key meaning',
  'components/table/data-table.tsx': 'empty props.tools',
  'components/table/table-row.tsx': 'column.cell(row) actions(row)',
  'components/table/table-rows.tsx': 'name head groupOf?.(row)',
  'components/table/toolbar.tsx': 'searchLabel count',
  'components/table/bulk/bulk-dialog.tsx':
    'action.title(targets.length) action.details?.({rows:targets,chosen,onChoose:setChosen,onReady:()=>setReady(true)})',
};

const WEB = globSync('web/**/*.{ts,tsx}', { cwd: SRC }).filter((file) => !file.startsWith('web/messages/'));

const stripWeb = (file: string): string => file.slice('web/'.length);

test('the console shows what others wrote through one component, or in texts', () => {
  expect(WEB.length).toBeGreaterThan(300);
  const shown = new Map(WEB.map((file) => [stripWeb(file), [...new Set(shownIn(file))]]));
  const known = Object.entries(IN_FILE).flatMap(([file, leaves]) =>
    leaves.split(' ').map((leaf) => `${file}: ${leaf}`),
  );
  expect([...shown].flatMap(([file, leaves]) => leaves.map((leaf) => `${file}: ${leaf}`)).toSorted()).toEqual(
    known.toSorted(),
  );
});

test('what it shows as neutral is', () => {
  const made = WEB.flatMap((file) => {
    const { source, program } = parse(file);
    const declared = declarationsOf(program);
    const texts = importsOf(program, /\/messages\/(?!neutralize)/);
    return [...NEUTRAL].flatMap((name) =>
      (declared.get(name) ?? []).map((value) => ({
        name,
        leaves: leavesOf(value, declared, texts).map((leaf) => source.slice(leaf.start, leaf.end)),
      })),
    );
  });
  expect(made.length).toBeGreaterThan(7);
  expect(made.filter(({ leaves }) => leaves.some((leaf) => leaf !== 'roleId'))).toEqual([]);
});

/** What pages that the service renders escape as it is: its own texts and values, and those of the operator. */
const ESCAPED: Readonly<Record<string, string>> = {
  'pages/brand.ts': 'name',
  'pages/dev-mail.ts': 'name mail.date date part', // the text of an email, in which names are quoted
  'pages/dev-webhooks.ts': 'id',
  'pages/docs.ts': 'brand.name',
  'pages/events.ts': 'name describeReaders(definition) JSON.stringify(createExample(name),null,2)',
  'pages/plain.ts': 'name',
  'pages/problems.ts': "title STATUS_CODES[status]??'' JSON.stringify(problemExample(code,baseUrl),null,2) text",
  'pages/procedures.ts': 'path access types',
  'pages/web.ts': 'baseUrl',
};

test('pages that the service renders show what others wrote through one function', () => {
  const pages = globSync('{app,oauth,pages,pictures,http,rest,mcp}/**/*.ts', { cwd: SRC }).filter(
    (file) => file !== 'pages/html.ts',
  );
  const escaped = pages.flatMap((file) => {
    const { source, program } = parse(file);
    const found = new Set<string>();
    walk(program, (node) => {
      if (node.type !== 'CallExpression' || nameOf(node['callee'] as Node) !== 'escapeHtml') return;
      const [argument] = node['arguments'] as [Node];
      const inner = isNode(argument['callee']) ? nameOf(argument['callee']) : '';
      if (!NEUTRAL.has(inner)) found.add(source.slice(argument.start, argument.end).replaceAll(/\s+/g, ''));
    });
    return [...found].map((argument) => `${file}: ${argument}`);
  });
  const known = Object.entries(ESCAPED).flatMap(([file, own]) => own.split(' ').map((one) => `${file}: ${one}`));
  expect(escaped.toSorted()).toEqual(known.toSorted());
});
