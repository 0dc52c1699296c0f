import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Creates the listener of `GET /metrics`. @param read returns the metrics as text */
export const createScrapeListener =
  (contentType: string, read: () => Promise<string>): RequestListener =>
  (req, res) => {
    sendMetrics(contentType, read, req, res).catch(() => (res.headersSent ? res.destroy() : res.writeHead(500).end()));
  };

async function sendMetrics(
  contentType: string,
  read: () => Promise<string>,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  if (req.url?.split('?', 1)[0] !== '/metrics') {
    res.writeHead(404).end();
    return;
  }
  if (req.method !== 'GET') {
    res.writeHead(405, { Allow: 'GET' }).end();
    return;
  }
  const text = await read();
  res.writeHead(200, { 'Content-Type': contentType }).end(text);
}
