import { toNodeHandler } from 'better-auth/node';
import express from 'express';
import { pino } from 'pino';
import { auth } from './better-auth-options.ts';

const log = pino({ level: process.env['LOG_LEVEL'] });
const app = express();

app.get('/readyz', (_req, res) => res.json({}));

// A line a request, as the others write one.
app.use((req, res, next) => {
  const startedAt = performance.now();
  res.on('finish', () => {
    log.info({ path: req.path, status: res.statusCode, durationMs: performance.now() - startedAt }, 'request');
  });
  next();
});
app.all('/api/auth/*splat', toNodeHandler(auth));

app.listen(Number(process.env['PORT']), '127.0.0.1');
