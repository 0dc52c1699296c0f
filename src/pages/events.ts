import { Router } from 'express';
import { EVENTS, type EventName } from '../events/catalogue.ts';
import type { EventDefinition } from '../events/definition.ts';
import { createEventExample } from '../events/feed/example.ts';
import { createEventSchema } from '../events/feed/event-schema.ts';
import { createRecordExample, createRecordSchema } from '../events/record-schema.ts';
import { toJsonSchema } from '../open-enum.ts';
import { serveJson } from './asset.ts';
import { escapeHtml } from './html.ts';
import type { Brand } from './brand.ts';
import { createPlainPages } from './plain.ts';

const ALL = Object.entries(EVENTS) as [EventName, EventDefinition][];

/** `GET /docs/events`: every event, with its readers and an example; `/docs/events.json`: their JSON Schemas. */
export function eventPages(brand: Brand): Router {
  const { style, show } = createPlainPages('/docs/events/style.css', brand);
  // Built by the first request, because few ask and every start would pay for it.
  let main: string | undefined;

  const pages = Router();
  pages.get('/docs/events', (_req, res) => show(res, 'Events', (main ??= list())));
  pages.get('/docs/events.json', serveJson('application/schema+json; charset=utf-8', createSchemas));
  pages.get(style.path, style.serve);
  return pages;
}

const createSchema = (name: EventName) =>
  EVENTS[name].isDelivered ? createEventSchema(name) : createRecordSchema(name);
const createExample = (name: EventName) =>
  EVENTS[name].isDelivered ? createEventExample(name) : createRecordExample(name);

/** One JSON Schema of delivered events. Its definitions are all events by name. */
function createSchemas() {
  const delivered = ALL.filter(([, { isDelivered }]) => isDelivered).map(([name]) => name);
  const $defs = Object.fromEntries(
    ALL.map(([name]) => {
      const { $schema: _, ...schema } = toJsonSchema(createSchema(name));
      return [name, { ...schema, examples: [createExample(name)] }];
    }),
  );
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Event',
    description: 'An event of a feed or a delivery.',
    oneOf: delivered.map((name) => ({ $ref: `#/$defs/${name}` })),
    $defs,
  };
}

const list = (): string => `<h1>Events</h1>
<p>Every change is an event that feeds and webhooks contain, in one order. What changes nothing, such as a denied
request, is in the audit log only; its example is a line of <code>roster audit export</code>. <code>details</code> holds what never
changes; <code>data</code> is the resource as REST shows it, and null once it was deleted or erased.
<a href="/docs/events.json">The JSON Schemas</a> describe each type.</p>
${ALL.map(([name, definition]) => entry(name, definition)).join('\n')}`;

const entry = (name: EventName, definition: EventDefinition): string => `<h2><code>${escapeHtml(name)}</code></h2>
<p>version ${definition.version} · ${escapeHtml(describeReaders(definition))}</p>
<pre tabindex="0" aria-label="Example of ${escapeHtml(name)}"><code>${escapeHtml(
  JSON.stringify(createExample(name), null, 2),
)}</code></pre>`;

function describeReaders({ audience, isDelivered, scope, permission }: EventDefinition): string {
  if (!isDelivered) return 'in the audit log only';
  const needs = [scope && `scope ${scope}`, permission && `permission ${permission}`].filter(Boolean).join(', ');
  const reader = { team: 'operator and team', account: 'operator and account', operator: 'operator' }[audience];
  return needs === '' ? reader : `${reader} (${needs})`;
}
