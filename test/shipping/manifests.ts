import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { ROOT } from './dockerfile.ts';

// Strict: a member that is spelled wrong, which an engine may ignore, is a fault here.
const labels = z.record(z.string(), z.string());
const metadata = z.strictObject({ name: z.string(), labels });
const selector = z.strictObject({ matchLabels: labels });
const quantity = z.string().regex(/^\d+(m|Mi|Gi)?$/);

const probe = z.strictObject({
  httpGet: z.strictObject({ path: z.string(), port: z.literal('http') }),
  periodSeconds: z.int(),
  timeoutSeconds: z.int().optional(),
  failureThreshold: z.int(),
});

const container = z.strictObject({
  name: z.string(),
  image: z.string(),
  command: z.array(z.string()).optional(),
  ports: z.array(z.strictObject({ name: z.literal('http'), containerPort: z.int() })).optional(),
  envFrom: z.array(
    z.union([
      z.strictObject({ configMapRef: z.strictObject({ name: z.string() }) }),
      z.strictObject({ secretRef: z.strictObject({ name: z.string() }) }),
    ]),
  ),
  startupProbe: probe.optional(),
  livenessProbe: probe.optional(),
  readinessProbe: probe.optional(),
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  resources: z.strictObject({
    requests: z.strictObject({ cpu: quantity, memory: quantity }),
    limits: z.strictObject({ memory: quantity }),
  }),
});

const pod = z.strictObject({
  metadata: z.strictObject({ labels }),
  spec: z.strictObject({
    restartPolicy: z.literal('Never').optional(),
    automountServiceAccountToken: z.literal(false),
    enableServiceLinks: z.literal(false),
    terminationGracePeriodSeconds: z.int().optional(),
    securityContext: z.strictObject({
      runAsNonRoot: z.literal(true),
      runAsUser: z.int().min(1),
      runAsGroup: z.int().min(1),
      seccompProfile: z.strictObject({ type: z.literal('RuntimeDefault') }),
    }),
    topologySpreadConstraints: z
      .array(
        z.strictObject({
          maxSkew: z.int(),
          topologyKey: z.string(),
          whenUnsatisfiable: z.literal('ScheduleAnyway'),
          labelSelector: selector,
        }),
      )
      .optional(),
    containers: z.tuple([container]),
  }),
});

const manifest = z.discriminatedUnion('kind', [
  z.strictObject({ apiVersion: z.literal('v1'), kind: z.literal('ConfigMap'), metadata, data: labels }),
  z.strictObject({
    apiVersion: z.literal('apps/v1'),
    kind: z.literal('Deployment'),
    metadata,
    spec: z.strictObject({
      replicas: z.int(),
      selector,
      strategy: z.strictObject({
        rollingUpdate: z.strictObject({ maxSurge: z.int(), maxUnavailable: z.int() }),
      }),
      template: pod,
    }),
  }),
  z.strictObject({
    apiVersion: z.literal('v1'),
    kind: z.literal('Service'),
    metadata,
    spec: z.strictObject({
      selector: labels,
      ports: z.tuple([z.strictObject({ name: z.string(), port: z.int(), targetPort: z.literal('http') })]),
    }),
  }),
  z.strictObject({
    apiVersion: z.literal('policy/v1'),
    kind: z.literal('PodDisruptionBudget'),
    metadata,
    spec: z.strictObject({ minAvailable: z.int(), selector }),
  }),
  z.strictObject({
    apiVersion: z.literal('batch/v1'),
    kind: z.literal('Job'),
    metadata,
    spec: z.strictObject({ backoffLimit: z.int(), activeDeadlineSeconds: z.int(), template: pod }),
  }),
]);

type Manifest = z.infer<typeof manifest>;

/** The documents of the named files in `deploy/kubernetes`, checked. */
export function manifestsIn(...files: string[]): Manifest[] {
  return files.flatMap((file) =>
    parseAllDocuments(read(`deploy/kubernetes/${file}`), { strict: true }).map((document) => {
      if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join('; ')}`);
      return manifest.parse(document.toJS());
    }),
  );
}

/** The only manifest of a kind. */
export function manifestOf<Kind extends Manifest['kind']>(
  manifests: readonly Manifest[],
  kind: Kind,
): Extract<Manifest, { kind: Kind }> {
  const [found, ...more] = manifests.filter((one): one is Extract<Manifest, { kind: Kind }> => one.kind === kind);
  if (found === undefined || more.length > 0) throw new Error(`There are ${more.length + 1} of ${kind}.`);
  return found;
}

const kustomization = z.strictObject({
  apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'),
  kind: z.literal('Kustomization'),
  resources: z.array(z.string()),
});

export const readKustomization = () => kustomization.parse(parse(read('deploy/kubernetes/kustomization.yaml')));

const service = z.strictObject({
  image: z.string(),
  build: z.literal('.').optional(),
  command: z.array(z.string()).optional(),
  environment: labels.optional(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  restart: z.enum(['no', 'unless-stopped']).optional(),
  stop_grace_period: z
    .string()
    .regex(/^\d+s$/)
    .optional(),
  depends_on: z
    .record(
      z.string(),
      z.strictObject({ condition: z.enum(['service_healthy', 'service_completed_successfully', 'service_started']) }),
    )
    .optional(),
  ports: z.array(z.string().regex(/^127\.0\.0\.1:\d+:\d+$/)).optional(),
  volumes: z.array(z.string()).optional(),
  healthcheck: z
    .strictObject({ test: z.array(z.string()), interval: z.string(), timeout: z.string(), retries: z.int() })
    .optional(),
});

const compose = z.object({
  name: z.string(),
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.strictObject({})),
});

export const readCompose = () => compose.parse(parse(read('compose.yaml'), { merge: true, strict: true }));

export const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
