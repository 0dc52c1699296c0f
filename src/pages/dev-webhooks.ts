import { Router } from 'express';
import type { Config } from '../config/config.ts';
import { query, type QueryRunner } from '../db/query.ts';
import type { DeliveredRow } from '../events/feed/read.ts';
import { toReadableJson } from '../messages/neutralize.ts';
import { createBody } from '../webhooks/payload.ts';
import { escapeHtml } from './html.ts';
import { isLocalRequest } from './local-request.ts';
import { createPlainPages, DEVELOPMENT } from './plain.ts';
import { THEME_SOURCE } from './theme.ts';

const latestEvents = query<{ row: DeliveredRow }>(
  'event_payload_list_latest',
  `select to_jsonb(e) - 'mac' || jsonb_build_object('type', p.type, 'data', p.data) as row
   from event_payload p join audit_event e on e.id = p.event_id order by p.sequence desc limit 50`,
  { rows: 'many' },
);

/** `GET /dev/webhooks`: what an endpoint of the installation would get. Exists where `/dev/mail` does. */
export function devWebhookPages(
  { baseUrl, isDevelopment, brand }: Pick<Config, 'baseUrl' | 'isDevelopment' | 'brand'>,
  db: QueryRunner,
): Router {
  const { style, show } = createPlainPages('/dev/webhooks/style.css', brand, {
    site: 'webhooks',
    headers: HEADERS,
    links: DEVELOPMENT,
  });
  const pages = Router();
  pages.use('/dev/webhooks', (req, _res, next) => {
    if (isDevelopment && isLocalRequest(req, baseUrl)) next();
    else next('router');
  });
  pages.get(style.path, style.serve);
  pages.get('/dev/webhooks', async (_req, res) => {
    const events = await db.query(latestEvents, []);
    const shown = events.map(({ row }) => renderWebhook(row.id, createBody(row, 'operator')));
    show(res, 'Webhooks', `<h1>Webhooks</h1>\n${shown.join('\n') || '<p>There are no events yet.</p>'}`);
  });
  return pages;
}

const renderWebhook = (id: string, body: string): string =>
  `<h2>${escapeHtml(id)}</h2>
<pre tabindex="0" aria-label="The body of the webhook">${escapeHtml(toReadableJson(JSON.stringify(JSON.parse(body), null, 2)))}</pre>`;

const HEADERS = {
  'Content-Security-Policy': `default-src 'none'; script-src ${THEME_SOURCE}; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};
