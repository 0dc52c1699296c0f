import { Router, type Request, type RequestHandler, type Response } from 'express';
import { ProblemError } from '../problems/error.ts';
import { runAs } from '../events/actor.ts';
import { createRateHeaders, setHeaders } from '../http/reply.ts';
import type { HttpServices } from '../http/http-services.ts';
import { createRateLimitError } from '../http/identify.ts';
import { toActor } from '../procedures/context.ts';
import { addressBucket } from '../rate-limit/address-bucket.ts';
import { findPicture } from '../resources/pictures/pictures.queries.ts';
import { setAccountPicture, setTeamPicture } from '../resources/pictures/pictures.service.ts';
import { createAdmission, type PictureCaller } from './admission.ts';
import { convertUpload } from './upload.ts';

const FILE = /^[\w-]{43}\.webp$/;
const CACHE_FOREVER = 'public, max-age=31536000, immutable';

/**
 * Creates the routes of pictures. Everyone can read one by its name, as other applications show them too. The console
 * sets them, with a body larger than others; it removes them by the procedures that change a profile or a team.
 */
export function createPictureRouter(http: HttpServices): Router {
  const pages = Router({ caseSensitive: true, strict: true });
  const admit = createAdmission(http);
  const set =
    (
      operation: string,
      save: (caller: PictureCaller, content: Buffer, teamId: string) => Promise<string>,
    ): RequestHandler<{ teamId?: string }> =>
    async (req, res) => {
      res.locals['operation'] = operation;
      const { caller, leave } = await admit(req, res, req.params.teamId ?? null);
      try {
        const content = await convertUpload(req);
        const url = await runAs(toActor(caller.context), () => save(caller, content, req.params.teamId ?? ''));
        res.json({ url });
      } finally {
        leave();
      }
    };

  const { services } = http;
  pages.put(
    '/pictures/me',
    set('pictures.setOwn', ({ principal }, content) => setAccountPicture(services, principal, content)),
  );
  pages.put(
    '/pictures/teams/:teamId',
    set('pictures.setForTeam', ({ principal }, content, teamId) =>
      setTeamPicture(services, { teamId, accountId: principal.accountId, credential: principal }, content),
    ),
  );
  pages.all(['/pictures/me', '/pictures/teams/:teamId'], () => {
    throw new ProblemError('method_not_allowed', undefined, { allow: 'PUT' });
  });
  pages.get('/pictures/:file', (req, res) => sendPicture(http, req, res));
  pages.all('/pictures/:file', () => {
    throw new ProblemError('method_not_allowed', undefined, { allow: 'GET, HEAD' });
  });
  return pages;
}

/** Sends a picture. Only names that do not exist consume the rate limit, because a page can show hundreds of pictures. */
async function sendPicture(http: HttpServices, req: Request<{ file: string }>, res: Response): Promise<void> {
  res.locals['operation'] = 'pictures.read';
  const { file } = req.params;
  const [found] = FILE.test(file) ? await http.services.db.query(findPicture, [file.slice(0, -'.webp'.length)]) : [];
  if (found === undefined) {
    const rate = await http.limiter.consume(addressBucket(http.clientAddress(req)));
    setHeaders(res, createRateHeaders(rate, http.services.config));
    throw rate.allowed ? new ProblemError('picture_not_found') : createRateLimitError(rate);
  }
  res.set({
    'Cache-Control': CACHE_FOREVER,
    'Content-Type': 'image/webp',
    'Cross-Origin-Resource-Policy': 'cross-origin',
  });
  res.send(Buffer.from(found.content, 'base64'));
}
