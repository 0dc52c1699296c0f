// A route handler of Next: app/teams/[teamId]/report/route.js. `roster.mjs` is beside `app`.
import { createOperator } from '@roster/client';
import { withSender } from '../../../../roster.mjs';

const operator = createOperator({
  baseUrl: process.env.ROSTER_URL ?? 'http://localhost:3000',
  operatorKey: process.env.ROSTER_OPERATOR_KEY,
  timeoutMs: 5000,
});

const needs = async (_request, { params }) => ({ teamId: (await params).teamId, scopes: ['teams:read'] });
export const GET = withSender(operator, needs, (_request, { team, role }) =>
  Response.json({ report: `Everything is fine in ${team.name}.`, role: role.id }),
);
