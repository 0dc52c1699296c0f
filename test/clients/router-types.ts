import type { AnyTRPCRouter, inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { AppRouter as Declared, ErrorShape } from '../../clients/typescript/src/generated/router.ts';
import type { ProblemCode } from '../../src/problems/catalogue.ts';
import type { AppRouter as Real } from '../../src/router.ts';

/** Fails to compile unless the first can be used as the second. */
type Fits<A extends B, B> = [A, B];

/** Fails to compile unless both types accept each other. */
type Same<A extends B, B extends C, C = A> = [A, B, C];

export type Inputs = Same<inferRouterInputs<Declared>, inferRouterInputs<Real>>;
export type Outputs = Same<inferRouterOutputs<Declared>, inferRouterOutputs<Real>>;

/** The error shape of a router, as tRPC infers it. */
type Shape<Of extends AnyTRPCRouter> = Of['_def']['_config']['$types']['errorShape'];

/** The codes that are named: the list of the declaration is open. */
type Named<Code extends string> = Code extends Code ? (string extends Code ? never : Code) : never;
type Codes = Same<Named<ErrorShape['data']['problem']['code']>, ProblemCode>;

type Members<Of extends { data: { problem: object } }> = keyof Of | keyof Of['data'] | keyof Of['data']['problem'];

export type Errors = [
  Codes,
  Same<ErrorShape, Shape<Declared>>,
  Fits<Shape<Real>, ErrorShape>,
  Same<Members<ErrorShape>, Members<Shape<Real>>>,
];
