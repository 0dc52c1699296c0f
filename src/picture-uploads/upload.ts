import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { currentCaller } from '../db/turns/request-caller.ts';
import { ProblemError } from '../problems/error.ts';
import { convertPicture } from '../picture-conversion/convert.ts';
import { fetchPicture } from '../picture-conversion/fetch-picture.ts';
import { PICTURE_BYTES_MAX } from '../picture-conversion/limits.ts';
import { toValidationEntries } from '../procedures/validation.ts';
import { pictureUrl } from '../procedures/fields.ts';
import { readJson, readUncompressed } from '../rest/body.ts';
import { CallerGoneError } from '../turns.ts';

const PICTURE_TYPE = /^image\/(?:jpeg|png|webp)$/i;
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

const reference = z.object({ url: pictureUrl });

/**
 * Reads the picture in the body of a request, or fetches the one that its JSON names, and converts it. Ends when the
 * client disconnects.
 */
export async function convertUpload(req: IncomingMessage): Promise<Buffer> {
  const over = currentCaller()?.over ?? new AbortController().signal;
  try {
    const content = await convertPicture(await readPicture(req, over), over);
    over.throwIfAborted();
    return content;
  } catch (error) {
    throw over.aborted ? new CallerGoneError() : error;
  }
}

async function readPicture(req: IncomingMessage, over: AbortSignal): Promise<Buffer> {
  const type = req.headers['content-type'] ?? '';
  if (PICTURE_TYPE.test(type)) return readUncompressed(req, PICTURE_BYTES_MAX);
  if (!JSON_TYPE.test(type))
    throw new ProblemError(
      'unsupported_media_type',
      'Send a picture as image/jpeg, image/png or image/webp, or its URL as application/json.',
    );
  const body = await readJson(req);
  const parsed = reference.safeParse(body);
  if (!parsed.success) {
    const errors = toValidationEntries(parsed.error.issues, body, () => 'body');
    throw new ProblemError('validation_failed', undefined, { errors });
  }
  return fetchPicture(parsed.data.url, over);
}
