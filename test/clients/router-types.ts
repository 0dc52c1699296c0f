import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { AppRouter as Declared } from '../../clients/typescript/src/generated/router.ts';
import type { AppRouter as Real } from '../../src/router.ts';

/** Fails to compile unless both types accept each other. */
type Same<A extends B, B extends C, C = A> = [A, B, C];

export type Inputs = Same<inferRouterInputs<Declared>, inferRouterInputs<Real>>;
export type Outputs = Same<inferRouterOutputs<Declared>, inferRouterOutputs<Real>>;
