// A receiver of webhooks: verifies each one, and handles each event once.
// WEBHOOK_SECRET=whsec_… PORT=4000 node receiver.mjs
import { createServer } from 'node:http';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
// Keep the ids where they survive a restart, in the same transaction as the work, and for at least 30 days.
const handled = new Set();

async function receive(request) {
  // The bytes as they arrived: parsed and written again, they would have another signature.
  const body = await request.text();
  // The library reads a plain object, not `Headers`.
  webhook.verify(body, Object.fromEntries(request.headers));
  const id = request.headers.get('webhook-id');
  if (handled.has(id)) return;
  handled.add(id);
  const { type, teamId } = JSON.parse(body);
  console.log(`${type} ${teamId ?? ''}`.trim());
}

const server = createServer(async (req, res) => {
  const chunks = [];
  for await (const chunk of req) chunks.push(chunk);
  const request = new Request('http://localhost/', {
    method: 'POST',
    headers: req.headers,
    body: Buffer.concat(chunks),
  });
  try {
    await receive(request);
    res.writeHead(204).end();
  } catch (error) {
    // Roster sends it again, unless the answer is 410.
    res.writeHead(error instanceof WebhookVerificationError ? 401 : 500).end();
  }
});
server.listen(Number(process.env.PORT ?? 4000), '127.0.0.1', () => console.log('listening', server.address().port));
