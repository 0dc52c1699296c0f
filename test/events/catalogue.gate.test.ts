import { Ajv2020 } from 'ajv/dist/2020.js';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FILLED_PAGES, fillPage, PASSAGES } from '../../bin/fill-docs.ts';
import { EVENTS, type EventName } from '../../src/events/catalogue.ts';
import { DATA, type DataKind } from '../../src/events/data.ts';
import type { EventDefinition } from '../../src/events/definition.ts';
import { createEventExample } from '../../src/events/feed/example.ts';
import { createEventSchema, eventOutput } from '../../src/events/feed/event-schema.ts';
import { createRecordExample, createRecordSchema } from '../../src/events/record-schema.ts';
import { apiKeyOutput } from '../../src/resources/api-keys/api-keys.schema.ts';
import { subscriptionOutput } from '../../src/resources/billing/billing.router.ts';
import { invitationOutput } from '../../src/resources/invitations/invitations.schema.ts';
import { accountOutput } from '../../src/resources/me/me.schema.ts';
import { clientOutput } from '../../src/resources/oauth-clients/oauth-clients.schema.ts';
import { grantOutput } from '../../src/resources/oauth-grants/oauth-grants.schema.ts';
import { memberOutput } from '../../src/resources/members/members.schema.ts';
import { operatorKeyOutput } from '../../src/resources/operator-keys/operator-keys.schema.ts';
import { publicMetadataOutput } from '../../src/resources/metadata/metadata.schema.ts';
import { passkeyOutput } from '../../src/resources/passkeys/passkeys.schema.ts';
import { roleOutput } from '../../src/resources/roles/roles.schema.ts';
import { sessionOutput } from '../../src/resources/sessions/sessions.schema.ts';
import { teamOutput } from '../../src/resources/teams/teams.schema.ts';
import { endpointOutput } from '../../src/resources/webhooks/webhooks.schema.ts';
import { test as withApi } from '../support/api.ts';

const NAMES = Object.keys(EVENTS) as EventName[];

type Shown = readonly [output: { readonly shape: object }, own?: readonly string[]];

/** What shows each kind elsewhere, and what only the caller gets there: the own role, the secrets of an own client. */
const SHOWN: Readonly<Record<DataKind, Shown>> = {
  account: [accountOutput],
  accountMetadata: [publicMetadataOutput],
  session: [sessionOutput, ['isCurrentSession']],
  passkey: [passkeyOutput],
  team: [teamOutput, ['role']],
  teamMetadata: [publicMetadataOutput],
  member: [memberOutput],
  memberMetadata: [publicMetadataOutput],
  role: [roleOutput, ['isAssignable']],
  invitation: [invitationOutput],
  apiKey: [apiKeyOutput],
  subscription: [subscriptionOutput],
  oauthClient: [clientOutput, ['secrets']],
  client: [grantOutput.shape.client],
  oauthGrant: [grantOutput],
  webhookEndpoint: [endpointOutput],
  operatorKey: [operatorKeyOutput],
};

const KINDS = Object.keys(DATA) as DataKind[];

/** What a copy needs besides, of which only operators see the external ids. */
const MORE: Partial<Record<DataKind, readonly string[]>> = {
  account: ['externalId'],
  team: ['externalId'],
  member: ['accountId', 'status', 'expiresAt'],
  accountMetadata: ['accountId'],
  teamMetadata: ['teamId'],
  role: ['productPermissions'],
  apiKey: ['permissions'],
  memberMetadata: ['membershipId', 'accountId'],
};

describe('the data of an event', () => {
  test.each(KINDS)('shows the %s as REST and tRPC do', (kind) => {
    const [{ shape }, own = []] = SHOWN[kind];
    const shown = Object.keys(shape).filter((field) => !own.includes(field));
    const all = new Set([...shown, ...(MORE[kind] ?? [])]);
    expect(Object.keys(DATA[kind].shape).toSorted()).toEqual([...all].toSorted());
  });

  test('is of every kind', () => {
    expect(Object.keys(SHOWN).toSorted()).toEqual(KINDS.toSorted());
    expect(new Set(Object.values<EventDefinition>(EVENTS).map(({ data }) => data))).toEqual(new Set([...KINDS, null]));
  });
});

test.each(NAMES.filter((name) => EVENTS[name].isDelivered))('the example of %s is one', (name) => {
  const example = createEventExample(name);
  expect(createEventSchema(name).parse(example)).toEqual(example);
  expect(eventOutput.parse(example)).toEqual(example);
});

test.each(NAMES.filter((name) => !EVENTS[name].isDelivered))('the example of %s is one', (name) => {
  const example = createRecordExample(name);
  expect(createRecordSchema(name).parse(example)).toEqual(example);
});

test('only what changes nothing, or happens once per request, is not delivered', () => {
  const [DENIALS, LOOKS, REFRESHES] = [
    ['access.denied', 'sign_in.denied', 'attempts.throttled', 'oauth_request.denied', 'denials.omitted'],
    [
      'operator.searched',
      'operator.list_exported',
      'operator.account_viewed',
      'operator.team_viewed',
      'operator.audit_log_viewed',
      'operator_key.used',
    ],
    ['oauth_token.issued', 'oauth_token.repeated'],
  ];
  const audited = NAMES.filter((name) => !EVENTS[name].isDelivered);
  expect(audited.toSorted()).toEqual([...DENIALS, ...LOOKS, ...REFRESHES].toSorted());
});

describe('the documentation', () => {
  const read = (page: string) => readFileSync(join(import.meta.dirname, '../..', page), 'utf8');

  test.each(FILLED_PAGES)('%s has the numbers of the catalogue, as `npm run build:docs` writes them', (page) => {
    expect(read(page)).toBe(fillPage(read(page)));
  });

  test.each(Object.keys(PASSAGES))('has the generated passage %s', (name) => {
    expect(FILLED_PAGES.map(read).join('')).toContain(`<!-- ${name} -->`);
  });

  test.each(['docs/events.md', 'docs/audit-log.md', 'docs/webhooks.md'])('%s counts events nowhere else', (page) => {
    const text = read(page).replaceAll(/<!-- ([a-z-]+) -->[^]*?<!-- \/\1 -->/g, '');
    expect(text.match(/(?<=These )\d+ events|\d+ events, of which|\d+ of them to teams/g)).toBe(null);
  });
});

withApi('/docs/events shows every event with an example, and has the JSON Schema of each', async ({ api }) => {
  const { status, text } = await api.anonymous.get('/docs/events');
  const schema = await api.anonymous.get('/docs/events.json');

  expect(status).toBe(200);
  for (const name of NAMES) {
    expect(text).toContain(`<code>${name}</code>`);
    expect(text).toContain(`aria-label="Example of ${name}"`);
  }
  const { $defs, oneOf } = JSON.parse(schema.text) as Schemas;
  expect(Object.keys($defs)).toEqual(NAMES);
  for (const name of NAMES) {
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile($defs[name] ?? false);
    expect([name, $defs[name]?.examples.map((example) => validate(example))]).toEqual([name, [true]]);
  }
  expect(oneOf).toEqual(NAMES.filter((name) => EVENTS[name].isDelivered).map((name) => ({ $ref: `#/$defs/${name}` })));
});

// Guarantees that a receiver that validates accepts a delivery, which has a `timestamp` too, and events of a newer version.
withApi('the JSON Schemas are open to members that readers do not know, at every depth', async ({ api }) => {
  const { text } = await api.anonymous.get('/docs/events.json');
  const document = JSON.parse(text) as Schemas;
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(document);

  const examples = NAMES.filter((name) => EVENTS[name].isDelivered).map((name) => document.$defs[name]?.examples[0]);
  expect(examples.filter((example) => !validate(addMembers(example)))).toEqual([]);
  expect(validate({ ...(examples[0] as object), type: 'unknown.type' })).toBe(false);
});

/** Adds a member to each object of a value, but not to the numbers by name of `addons`. */
const addMembers = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(addMembers);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(
    ([name, member]) => [name, name === 'addons' ? member : addMembers(member)] as const,
  );
  return { ...Object.fromEntries(members), timestamp: '2026-11-21T09:30:00.000Z' };
};

type Schemas = { $defs: Record<string, { examples: unknown[] }>; oneOf: unknown[] };
