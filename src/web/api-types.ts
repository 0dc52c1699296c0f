import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from '#client/router';

export type Inputs = inferRouterInputs<AppRouter>;
export type Outputs = inferRouterOutputs<AppRouter>;

export type Scope = Outputs['getCredential']['scopes'][number];
export type Permission = Outputs['listTeamRoles'][number]['permissions'][number];
