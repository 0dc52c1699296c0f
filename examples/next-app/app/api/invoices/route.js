import { auth, invoicesOf } from '../../../roster.js';

/** Answers whose role has the permission in the team in which they work. */
const withPermission = (permission, answer) => async (request) => {
  try {
    const session = await auth.requirePermission(request, permission);
    const response = Response.json(await answer(session, request));
    for (const cookie of session.setCookies) response.headers.append('set-cookie', cookie);
    return response;
  } catch (error) {
    return auth.respond(error);
  }
};

export const GET = withPermission('access_dashboard', ({ team }) => invoicesOf(team.id));

export const POST = withPermission('access_billing', async ({ team, user }, request) => {
  const { title } = await request.json();
  const invoice = { id: crypto.randomUUID(), title: String(title), by: user.id };
  invoicesOf(team.id).push(invoice);
  return invoice;
});
