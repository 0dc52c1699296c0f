import type { TRPCMiddlewareFunction, TRPCProcedureBuilder, TRPCUnsetMarker } from '@trpc/server';
import type { z } from 'zod';
import type { Context } from './context.ts';
import type { Effect } from './effect.ts';
import type { Meta } from './meta.ts';

type Merge<Before, More> = Before extends TRPCUnsetMarker
  ? More
  : { [Key in keyof (Before & More)]: (Before & More)[Key] };
type Replace<Before, By> = Omit<Before, keyof By> & By;

/** tRPC’s builder of procedures, of which a mutation does not compile before its effect was declared. */
export interface Builder<
  Added = object,
  In = TRPCUnsetMarker,
  Parsed = TRPCUnsetMarker,
  Returned = TRPCUnsetMarker,
  Sent = TRPCUnsetMarker,
  IsDeclared = false,
> {
  meta(meta: Meta & { readonly effect: Effect }): Builder<Added, In, Parsed, Returned, Sent, true>;
  meta(meta: Meta): Builder<Added, In, Parsed, Returned, Sent, IsDeclared>;
  input<Schema extends z.ZodType>(
    schema: Schema,
  ): Builder<Added, Merge<In, z.input<Schema>>, Merge<Parsed, z.output<Schema>>, Returned, Sent, IsDeclared>;
  output<Schema extends z.ZodType>(
    schema: Schema,
  ): Builder<Added, In, Parsed, z.input<Schema>, z.output<Schema>, IsDeclared>;
  use<More>(
    run: TRPCMiddlewareFunction<Context, Meta, Added, More, Parsed>,
  ): Builder<Replace<Added, More>, In, Parsed, Returned, Sent, IsDeclared>;
  readonly query: TRPCProcedureBuilder<Context, Meta, Added, In, Parsed, Returned, Sent, false>['query'];
  readonly mutation: IsDeclared extends true
    ? TRPCProcedureBuilder<Context, Meta, Added, In, Parsed, Returned, Sent, false>['mutation']
    : 'Declare the effect first, such as `.meta({ effect: "none" })`.';
}
