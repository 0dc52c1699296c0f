import type { Request, Response } from 'express';
import { requirePermission } from '../auth/permissions.ts';
import type { Principal } from '../auth/principal.ts';
import { ProblemError } from '../problems/error.ts';
import type { HttpServices } from '../http/http-services.ts';
import { identifySession } from '../http/identify-session.ts';
import { requestIdsOf } from '../http/request-id.ts';
import { createContext, type Context } from '../procedures/context.ts';
import { resourceId } from '../procedures/fields.ts';
import { consumeAttempt } from '../rate-limit/attempts.ts';
import { Turns } from '../turns.ts';

/** The user of a session who sets a picture. */
export type PictureCaller = { readonly principal: Principal; readonly context: Context };

/** Pictures that one account, and all together, can send to this process at a time: each is held in memory. */
const OPEN_MAX = { perAccount: 2, total: 30 };

/**
 * Creates the checks before a body is read, in the order of the procedures: rate limit, origin, session, membership and
 * permission, and then the limits of pictures. The caller has to call `leave` at the end.
 */
export function createAdmission(http: HttpServices) {
  const { services, attempts } = http;
  const turns = new Turns({ total: OPEN_MAX.total, perKey: OPEN_MAX.perAccount });

  function enter(accountId: string): () => void {
    const leave = turns.tryEnter([accountId]);
    if (leave !== undefined) return leave;
    if (turns.isAtLimit(accountId))
      throw new ProblemError('rate_limited', 'Wait for your other pictures.', { retryAfter: 1 });
    throw new ProblemError('service_unavailable', 'Too many pictures are being processed.', { retryAfter: 5 });
  }

  return async (req: Request, res: Response, teamId: string | null) => {
    const address = http.clientAddress(req);
    const requestIds = requestIdsOf(req);
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
      caller: { principal, context: createContext(services, { requestIds, address, authentication, teamId }) },
      leave,
    };
  };
}
