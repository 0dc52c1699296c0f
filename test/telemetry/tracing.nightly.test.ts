import { describe, expect, test } from 'vitest';
import { OWN_ID } from '../events/events.ts';
import { hasRedis, startRedis } from '../support/redis.ts';
import { aCollector, attributesOf, aWatchedService, type Span } from './service.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

describe('traces', () => {
  test.skipIf(!hasRedis)('one span a request, named after the operation, with what it asked for below', async () => {
    const [collector, redis] = [await aCollector(), await startRedis()];
    const { api, stop } = await aWatchedService({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      REDIS_URL: redis.url,
    });
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['teams:read', 'teams:write'] });
    const asCaller = (flags: string) => ({
      traceparent: `00-${TRACE}-${CALLER}-${flags}`,
      tracestate: `vendor=${key.secret.slice(0, 20)}`,
      'x-request-id': 'the-request',
    });

    await api.as(key).send({ method: 'GET', path: '/api/v1/teams', headers: asCaller('01') });
    await api.as(key).post('/api/v1/teams', { name: 'A team' });
    await api.as(key).send({ method: 'GET', path: '/api/v1/me', headers: asCaller('00') });
    await api.as(key).get('/trpc/getCredential');
    await api.anonymous.get('/nothing');
    await stop();
    await redis.stop();

    const spans = collector.spans();
    const called = (name: string): Span => {
      const [span, ...others] = spans.filter((one) => one.name === name);
      if (span === undefined || others.length > 0) throw new Error(`There is not one span ${name}.`);
      return span;
    };
    const below = ({ spanId }: Span) => spans.filter(({ parentSpanId }) => parentSpanId === spanId);
    expect(attributesOf(called('listTeams'))).toEqual({
      'http.request.method': 'GET',
      'http.response.status_code': 200,
      'roster.request_id': expect.stringMatching(OWN_ID),
      'roster.client_request_id': 'the-request',
      'roster.credential_id': key.id,
    });
    expect(called('listTeams')).toMatchObject({ traceId: TRACE, parentSpanId: CALLER, kind: 2, status: { code: 0 } });
    expect(below(called('listTeams')).map(({ name }) => name)).toEqual([
      'api_key_authenticate',
      'rate_limit',
      'team_list_of_account',
    ]);
    expect(below(called('listTeams')).map(attributesOf)).toContainEqual({
      'db.system.name': 'redis',
      'db.query.summary': 'rate_limit',
    });
    expect(below(called('createTeam')).map(({ name }) => name)).toContain('transaction');
    expect(called('createTeam')).not.toHaveProperty('parentSpanId', CALLER);
    expect(called('createTeam').traceId).not.toBe(TRACE);
    expect(attributesOf(called('getCredential'))).toMatchObject({ 'http.response.status_code': 200 });
    expect(spans.filter(({ name }) => name === 'getMe')).toEqual([]);
    expect(
      spans.filter(({ name }) => name === 'GET').map((span) => attributesOf(span)['http.response.status_code']),
    ).toContain(404);
    expect(JSON.stringify(collector.exports)).not.toContain('vendor=');
    const [first] = collector.exports;
    expect(attributesOf(first?.resourceSpans[0]?.resource ?? { attributes: [] })).toMatchObject({
      'service.name': 'roster',
    });
  });

  test('a failure is marked, without its message', async () => {
    const collector = await aCollector();
    const { api, stop } = await aWatchedService({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const key = await api.anApiKey(await api.anAccount(), { scopes: ['teams:read'] });
    await api.rows('alter table team rename to team_away');

    expect((await api.as(key).get('/api/v1/teams')).status).toBe(500);
    await stop();

    const [request] = collector.spans().filter(({ name }) => name === 'listTeams');
    const [failed] = collector
      .spans()
      .filter(({ parentSpanId, status }) => parentSpanId === request?.spanId && status.code === 2);
    expect(request?.status).toEqual({ code: 2 });
    expect(attributesOf(request ?? { attributes: [] })['error.type']).toBe('500');
    expect(failed?.status).toEqual({ code: 2 });
    expect(attributesOf(failed ?? { attributes: [] })['error.type']).toBe('42P01');
    expect(JSON.stringify(collector.exports)).not.toContain('does not exist');
  });

  // Guarantees that a collector that is away costs one line, no request, and no time at the end.
  test('without a collector the service works, logs that once, and stops', async () => {
    const { api, service, stop } = await aWatchedService({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });

    expect((await api.anonymous.get('/healthz')).status).toBe(200);
    await stop();

    expect(await service.exited).toEqual({ code: 0, signal: null });
    expect(service.complaint()).toBe('');
    expect(service.lines.filter((line) => line.includes('trace export failed'))).toHaveLength(1);
  });

  test('a share of requests is traced, where the operator wants less', async () => {
    const collector = await aCollector();
    const { api, stop } = await aWatchedService({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER_ARG: '0',
    });

    await api.anonymous.get('/healthz');
    const headers = { traceparent: `00-${TRACE}-${CALLER}-01` };
    await api.anonymous.send({ method: 'GET', path: '/readyz', headers });
    await stop();

    expect(new Set(collector.spans().map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  });
});
