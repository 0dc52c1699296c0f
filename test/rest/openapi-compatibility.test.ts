import { expect, test } from 'vitest';
import { EVENTS } from '../../src/events/catalogue.ts';
import { PROBLEMS } from '../../src/problems/catalogue.ts';
import { components, document, operatorDocument, type Schema } from './documents.ts';

// Guarantees that generators make an optional type of each nullable and no union of its own.
test('nullables are types with null', () => {
  for (const each of [document, operatorDocument]) expect(JSON.stringify(each)).not.toContain('{"type":"null"}');
  expect(components.schemas['Account']?.properties?.['emailVerified']).toMatchObject({
    type: ['string', 'null'],
    format: 'date-time',
  });
  expect(components.schemas['Credential']?.properties?.['team']).toMatchObject({ type: ['object', 'null'] });
  expect(components.schemas['Subscription']?.properties?.['interval']).toMatchObject({
    type: ['string', 'null'],
    enum: ['month', 'year', null],
  });
});

test('the codes of problems are those of the catalogue, and open to new ones', () => {
  expect(components.schemas['Problem']?.properties?.['code']).toMatchObject({
    anyOf: [{ type: 'string', enum: Object.keys(PROBLEMS) }, { type: 'string' }],
  });
});

// Guarantees that a server can add members without breaking validating clients of an older document.
test('responses are open to new members, and no default makes a member required in generated clients', () => {
  const text = JSON.stringify(document.components.schemas);
  expect(text).not.toContain('"additionalProperties":false');
  expect(text).not.toContain('"default":');
  expect(components.schemas['CreateTeamInvitationBody']?.properties?.['roleId']).toMatchObject({
    description: 'The id of a role that the caller can assign. Default: `member`.',
  });
});

// Guarantees that generated clients that validate accept events of a newer version.
test('the types of events are those of the catalogue, and open to new ones', () => {
  const { Event } = operatorDocument.components.schemas;
  expect(Event?.properties?.['type']).toEqual({
    anyOf: [{ type: 'string', enum: Object.keys(EVENTS) }, { type: 'string' }],
    description: 'More types can be added.',
  });
});

type Found = { readonly name: string; readonly schema: Schema };

/** All members of the schemas of responses, with their paths. */
const membersOf = ({ properties = {}, items, anyOf = [] }: Schema, name: string): Found[] => [
  ...Object.entries(properties).flatMap(([member, schema]) => [
    { name: `${name}.${member}`, schema },
    ...membersOf(schema, `${name}.${member}`),
  ]),
  ...[...(items === undefined ? [] : [items]), ...anyOf].flatMap((inner) => membersOf(inner, name)),
];
const MEMBERS = [document, operatorDocument].flatMap(({ components: { schemas } }) =>
  Object.entries(schemas).flatMap(([name, schema]) => (name.endsWith('Body') ? [] : membersOf(schema, name))),
);
const isOpen = ({ anyOf = [] }: Schema) => anyOf.some((option) => option.enum !== undefined);

// Guarantees that generated clients that validate accept the answers of a newer version.
test('enums that can grow are open, and all that says it can grow is', () => {
  const open = MEMBERS.filter(({ schema }) => isOpen(schema));
  expect([...new Set(open.map(({ name }) => name))].toSorted()).toEqual([
    'Event.actor.kind',
    'Event.target.type',
    'Event.type',
    'Import.stage',
    'Import.status',
    'ImportReport.refusals.type',
    'ImportReport.stage',
    'ImportReport.status',
    'Problem.code',
    'Verification.code',
    'WebhookDeliveries.deliveries.state',
    'WebhookEndpoint.status',
  ]);
  for (const { name, schema } of open) {
    const [known, others, ...rest] = schema.anyOf ?? [];
    expect([name, known?.type, Array.isArray(others?.type) ? others.type : [others?.type], rest]).toEqual([
      name,
      'string',
      expect.arrayContaining(['string']),
      [],
    ]);
  }
  const growing = MEMBERS.filter(({ schema }) => /can be added/.test(schema.description ?? ''));
  expect(growing.filter(({ schema }) => schema.enum !== undefined).map(({ name }) => name)).toEqual([]);
  expect(open.filter((member) => !growing.includes(member)).map(({ name }) => name)).toEqual([]);
});
