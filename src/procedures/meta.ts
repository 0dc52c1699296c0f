import type { OpenApiMeta } from 'trpc-to-openapi';
import type { ProblemCode } from '../problems/catalogue.ts';
import type { OperatorLimit } from '../rate-limit/operator-limiters.ts';
import type { Services } from '../service/services.ts';
import type { Access } from './authorize.ts';
import type { Prefetch } from './context.ts';
import type { Effect } from './effect.ts';

/** What a procedure declares, besides its input and output. */
export type Meta = {
  readonly access?: Access;
  /** Whether tokens of first-party applications reach a procedure that is open to everyone. */
  readonly isOpenToApps?: boolean;
  /** What a mutation does to the access to an account or team. Required for every mutation. */
  readonly effect?: Effect;
  /** What a procedure does that authenticates its caller. Its builder sets it: `signInProcedure` and those after it. */
  readonly authenticates?: 'starts a session' | 'continues a session' | 'adds a proof';
  /** The status of a successful response over REST. */
  readonly status?: 200 | 201 | 202;
  /** The content of a successful response over REST. */
  readonly returns?: string;
  /** The errors of the operation itself; those of access and input follow from its declaration. */
  readonly errors?: readonly ProblemCode[];
  /** Returns the id of the resource whose secret the output contains, if it contains one. */
  readonly secretOf?: ((output: never) => string) | undefined;
  /** Which limit of an operator key a call consumes. Default: `requests`. */
  readonly limit?: OperatorLimit;
  /** Whether a mutation only reads: it is not recorded and takes no `Idempotency-Key`. */
  readonly readsOnly?: boolean;
  /** Reads what an unvalidated body asks for together with the operator key. Must not change anything. */
  readonly prefetch?: ((services: Services, raw: unknown) => Prefetch | undefined) | undefined;
  /** The most bytes of the body, if that is not 100 KiB. Over tRPC, only of a call that is no part of a batch. */
  readonly maxBodyBytes?: number | undefined;
  /** The body is read while it arrives, from `ctx.upload`. The input is in the path and the query. */
  readonly upload?: Upload;
  /** Examples of the body and the response. Those of `/api/v1` are in `src/rest/openapi-examples.ts`. */
  readonly example?: Example;
  /** Over REST, the member `version` of the output is also the `ETag`, and that of the input `If-Match`. */
  readonly isVersioned?: true | undefined;
  /** The body is a JSON merge patch (RFC 7396), whose numbers are read exactly. Its media type is accepted beside JSON. */
  readonly isMergePatch?: true | undefined;
  readonly openapi?: NonNullable<OpenApiMeta['openapi']>;
};

/** A body that is too long to be read at once. */
export type Upload = {
  /** The content type. */
  readonly type: string;
  readonly maxBytes: number;
  readonly example: string;
};

export type Example = { readonly body?: unknown; readonly answer: unknown };
