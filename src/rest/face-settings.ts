import type { IncomingMessage } from 'node:http';
import type { SecuritySchemeObject } from 'trpc-to-openapi';
import type { oas31 } from 'zod-openapi';
import type { Identified } from '../http/identify.ts';
import type { HttpServices } from '../http/http-services.ts';
import type { Access } from '../procedures/authorize.ts';
import type { Prefetch } from '../procedures/context.ts';
import type { Example } from '../procedures/meta.ts';
import type { Lookup } from './routes.ts';

type Tag = { readonly name: string; readonly description: string };

/** What identifies the caller of a request. */
export type RequestFacts = {
  readonly address: string;
  readonly teamId: string | null;
  readonly path: string;
  readonly lookup: Lookup;
  /** What the operation reads together with the credential. */
  readonly prefetch: Prefetch | undefined;
};

/** What makes one REST interface differ from another. */
export type FaceSettings = {
  readonly prefix: '/api/v1' | '/operator/v1';
  readonly title: string;
  readonly description: string;
  /** The page with the reference. */
  readonly docsPath: string;
  /** Tags by a segment of the path, which `tagOf` chooses. */
  readonly tags: Readonly<Record<string, Tag>>;
  readonly tagOf: (segments: readonly string[]) => string | undefined;
  /** By operation, unless the operation has an example itself. */
  readonly examples: Readonly<Record<string, Example>>;
  /** Descriptions and examples of parameters by name, or by `<operationId>.<name>`. */
  readonly parameters: Readonly<Record<string, { readonly description: string; readonly example: string | number }>>;
  /** The error statuses that each operation declares, besides `default`. */
  readonly statuses: readonly number[];
  /** Whether an operation declares a status that it does not respond with. */
  readonly declaresUnused: boolean;
  readonly problemSchemas: Readonly<Record<string, oas31.SchemaObject | oas31.ReferenceObject>> | undefined;
  readonly securitySchemes: (baseUrl: string, tokenBrand: string) => Record<string, SecuritySchemeObject>;
  readonly security: (access: Access) => Record<string, string[]>[];
  /** The environment variable with the credential, in samples. */
  readonly credentialVariable: string;
  /** What `@roster/client` calls the interface: its factory, the variable of samples, and the option of the credential. */
  readonly client: { readonly factory: string; readonly variable: string; readonly option: string };
  /** Whether pages of other origins can call it (CORS). */
  readonly isPublic: boolean;
  readonly identify: (http: HttpServices, req: IncomingMessage, facts: RequestFacts) => Promise<Identified>;
};

export const documentPathOf = ({ prefix }: Pick<FaceSettings, 'prefix'>): string => `${prefix}/openapi.json`;
