import type { TRPCResponse } from '@trpc/server/rpc';
import type { Response } from 'express';
import { writePieces } from '../http/write-pieces.ts';
import { JsonText } from '../procedures/json-text.ts';

/**
 * Sends a response that contains long lists. tRPC makes the JSON of a whole response at once, with a placeholder for
 * each long list; here the lists are put in their places, and sent as fast as the client reads.
 * @param answers what tRPC answers to the calls of the request
 */
export function sendLongLists(res: Response, answers: readonly TRPCResponse[]): void {
  const texts = answers
    .map((answer) => ('result' in answer && 'data' in answer.result ? answer.result.data : undefined))
    .filter((data) => data instanceof JsonText);
  if (texts.length === 0) return;
  const written: Uint8Array[] = [];
  const [write, end] = [res.write.bind(res), res.end.bind(res)];
  res.write = ((chunk: Uint8Array) => {
    written.push(chunk);
    return true;
  }) as typeof write;
  res.end = ((chunk?: string) => {
    if (chunk !== undefined) written.push(Buffer.from(chunk));
    Object.assign(res, { write, end });
    const pieces = JsonText.insert(Buffer.concat(written).toString(), texts);
    void writePieces(res, pieces);
    return res;
  }) as typeof end;
}
