import { accountHeader, toClientError, withSession } from './trpc.ts';
import { watchRequest } from './unanswered.ts';

const BYTES_MAX = 2 * 1024 * 1024;

export const PICTURE_TYPES = ['image/jpeg', 'image/png', 'image/webp'];

/** Returns why a file would not be accepted, without sending it. */
export function findFileFault({ type, size }: File): 'wrongType' | 'tooLarge' | undefined {
  if (!PICTURE_TYPES.includes(type)) return 'wrongType';
  return size > BYTES_MAX ? 'tooLarge' : undefined;
}

/**
 * Uploads a picture, or asks the service to fetch the one at a URL.
 * @param onProgress gets the share that was sent, from 0 to 1, which only XMLHttpRequest reports
 * @returns the URL of the stored picture
 * @throws TRPCClientError with the problem document, as procedures do
 */
export const setPicture = (...args: Parameters<typeof sendPicture>): Promise<string> =>
  withSession(() => sendPicture(...args));

function sendPicture(
  path: string,
  picture: File | { readonly url: string },
  onProgress: (share: number) => void,
): Promise<string> {
  const request = new XMLHttpRequest();
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  request.open('PUT', path);
  request.responseType = 'json';
  const isFile = picture instanceof File;
  const headers = { ...accountHeader('pictures'), 'content-type': isFile ? picture.type : 'application/json' };
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
  request.onload = () => {
    const body = request.response as { readonly url: string } | { readonly title: string } | null;
    if (body !== null && 'url' in body) resolve(body.url);
    else reject(toClientError(body));
  };
  const noteUnanswered = watchRequest(true);
  request.onerror = () => {
    const error = toClientError(null);
    noteUnanswered(error);
    reject(error);
  };
  request.send(isFile ? picture : JSON.stringify(picture));
  return promise;
}
