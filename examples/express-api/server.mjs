// An API of your own, for members of a team in Roster: GET /teams/:teamId/report with an API key or access token.
// ROSTER_URL=http://localhost:3000 ROSTER_OPERATOR_KEY=rst_ok_… PORT=4001 node server.mjs
import { createOperator } from '@roster/client';
import express from 'express';
import { requireSender } from './roster.mjs';

const operator = createOperator({
  baseUrl: process.env.ROSTER_URL ?? 'http://localhost:3000',
  operatorKey: process.env.ROSTER_OPERATOR_KEY,
  timeoutMs: 5000,
});
const app = express();

const needs = (req) => ({ teamId: req.params.teamId, scopes: ['teams:read'], permission: 'access_dashboard' });
app.get('/teams/:teamId/report', requireSender(operator, needs), (req, res) => {
  const { account, team, role } = req.sender;
  res.json({ report: `Everything is fine in ${team.name}.`, for: account.email, role: role.id });
});

const server = app.listen(Number(process.env.PORT ?? 4001), '127.0.0.1', () =>
  console.log('listening', server.address().port),
);
