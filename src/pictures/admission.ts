import type { Request, Response } from 'express';
import { requirePermission } from '../auth/permissions.ts';
import type { Principal } from '../auth/principal.ts';
import { ProblemError } from '../errors.ts';
import type { HttpServices } from '../http/http-services.ts';
import { identifySession } from '../http/identify-session.ts';
import type { Context } from '../procedures/context.ts';
import { createContext } from '../procedures/create-context.ts';
import { resourceId } from '../procedures/fields.ts';
import { consumeAttempt } from '../rate-limit/attempts.ts';

/** The user of a session who sets a picture. */
export type PictureCaller = { readonly principal: Principal; readonly context: Context };

/** Pictures that one account, and all together, can send to this process at a time: each is held in memory. */
const OPEN_MAX = { account: 2, all: 30 };

/**
 * Creates the checks before a body is read, in the order of the procedures: rate limit, origin, session, membership and
 * permission, and then the limits of pictures. The caller has to call `leave` at the end.
 */
export function createAdmission(http: HttpServices) {
  const { services, attempts } = http;
  const open = new Map<string, number>();
  let openInAll = 0;

  function enter(accountId: string): () => void {
    const own = open.get(accountId) ?? 0;
    if (own >= OPEN_MAX.account)
      throw new ProblemError('rate_limited', 'Wait for your other pictures.', { retryAfter: 1 });
    if (openInAll >= OPEN_MAX.all)
      throw new ProblemError('service_unavailable', 'Too many pictures are being processed.', { retryAfter: 5 });
    open.set(accountId, own + 1);
    openInAll += 1;
    return () => {
      openInAll -= 1;
      const rest = (open.get(accountId) ?? 1) - 1;
      if (rest === 0) open.delete(accountId);
      else open.set(accountId, rest);
    };
  }

  return async (req: Request, res: Response, teamId: string | null) => {
    const address = http.clientAddress(req);
    const requestId = res.locals['requestId'] as string; // set in app.ts for every response
    const { principal, authentication } = await identifySession(http, req, res, {
      address,
      path: req.path,
      // An id that PostgreSQL cannot store is unknown.
      teamId: resourceId.safeParse(teamId).data ?? null,
    });
    if (teamId !== null) {
      if (authentication.membership === null) throw new ProblemError('team_not_found');
      requirePermission(authentication.membership.permissions, 'edit_team_settings');
    }
    const leave = enter(principal.accountId);
    await consumeAttempt({ counter: attempts.pictures, name: principal.accountId }).catch((error: unknown) => {
      leave();
      throw error;
    });
    return {
      caller: { principal, context: createContext(services, { requestId, address, authentication, teamId }) },
      leave,
    };
  };
}
