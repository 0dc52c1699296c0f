// An API of your own, for members of a team in Roster: GET /teams/:teamId/report with an API key or access token.
// ROSTER_URL=http://localhost:3000 PORT=4001 node server.mjs
import express from 'express';
import { requireSender } from './roster.mjs';

const baseUrl = process.env.ROSTER_URL ?? 'http://localhost:3000';
const app = express();

const member = requireSender((req) => ({ baseUrl, teamId: req.params.teamId }));
app.get('/teams/:teamId/report', member, (req, res) => {
  const { name, role } = req.sender.team;
  res.json({ report: `Everything is fine in ${name}.`, role: role.id });
});

const server = app.listen(Number(process.env.PORT ?? 4001), '127.0.0.1', () =>
  console.log('listening', server.address().port),
);
