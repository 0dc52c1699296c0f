import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EVENTS, type EventName } from '../../src/events/catalogue.ts';
import { DATA } from '../../src/events/data.ts';
import type { EventDefinition } from '../../src/events/definition.ts';
import { createEventExample } from '../../src/events/feed/example.ts';
import { createEventSchema, eventOutput } from '../../src/events/feed/event-schema.ts';
import { apiKeyOutput } from '../../src/resources/api-keys/api-keys.schema.ts';
import { invitationOutput } from '../../src/resources/invitations/invitations.schema.ts';
import { accountOutput } from '../../src/resources/me/me.schema.ts';
import { memberOutput } from '../../src/resources/members/members.schema.ts';
import { roleOutput } from '../../src/resources/roles/roles.schema.ts';
import { sessionOutput } from '../../src/resources/sessions/sessions.schema.ts';
import { teamOutput } from '../../src/resources/teams/teams.schema.ts';
import { test as withApi } from '../support/api.ts';

const NAMES = Object.keys(EVENTS) as EventName[];

describe('the data of an event', () => {
  // Without what only the caller has: the own role in a team, whether the session is the own one.
  test.each([
    ['account', accountOutput, []],
    ['session', sessionOutput, ['isCurrentSession']],
    ['team', teamOutput, ['role']],
    ['member', memberOutput, []],
    ['role', roleOutput, ['isAssignable']],
    ['invitation', invitationOutput, []],
    ['apiKey', apiKeyOutput, []],
  ] as const)('shows the %s as REST does', (kind, { shape }, own: readonly string[]) => {
    const shown = Object.keys(shape).filter((field) => !own.includes(field));
    expect(Object.keys(DATA[kind].shape).toSorted()).toEqual(shown.toSorted());
  });
});

test.each(NAMES)('the example of %s is one', (name) => {
  const example = createEventExample(name);
  expect(createEventSchema(name).parse(example)).toEqual(example);
  expect(eventOutput.parse(example)).toEqual(example);
});

test('docs/events.md states the size of the catalogue', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/events.md'), 'utf8');
  const all = Object.values<EventDefinition>(EVENTS);
  const delivered = all.filter(({ isDelivered }) => isDelivered);
  const numberOf = (who: string) => delivered.filter(({ audience }) => audience === who).length;

  expect(page).toContain(
    `${all.length} events, of which ${delivered.length} are delivered, ${numberOf('team')} of them to teams and ` +
      `${numberOf('account')} to accounts; ${all.length - delivered.length} are in the audit log alone.`,
  );
});

withApi('/docs/events shows every event, and the JSON Schema has every delivered one', async ({ api }) => {
  const { status, text } = await api.anonymous.get('/docs/events');
  const schema = await api.anonymous.get('/docs/events.json');

  expect(status).toBe(200);
  for (const name of NAMES) expect(text).toContain(`<code>${name}</code>`);
  const { $defs } = JSON.parse(schema.text) as { $defs: Record<string, { examples: unknown[] }> }; // as served
  expect(Object.keys($defs)).toEqual(NAMES.filter((name) => EVENTS[name].isDelivered));
  expect($defs['team.renamed']?.examples).toHaveLength(1);
});
