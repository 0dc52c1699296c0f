import type { TRPCResponse } from '@trpc/server/rpc';
import type { Response } from 'express';
import { JsonList } from '../db/lists/json-list.ts';
import { writePieces } from '../http/write-pieces.ts';

/**
 * Sends a response that contains lists. tRPC makes the JSON of a whole response at once, with a placeholder for each list;
 * here the lists are put in their places, and sent as fast as the client reads.
 * @param answers what tRPC answers to the calls of the request
 */
export function sendLists(res: Response, answers: readonly TRPCResponse[]): void {
  const lists = answers
    .map((answer) => ('result' in answer && 'data' in answer.result ? answer.result.data : undefined))
    .filter((data) => data instanceof JsonList);
  if (lists.length === 0) return;
  const written: Uint8Array[] = [];
  const [write, end] = [res.write.bind(res), res.end.bind(res)];
  res.write = ((chunk: Uint8Array) => {
    written.push(chunk);
    return true;
  }) as typeof write;
  res.end = ((chunk?: string) => {
    if (chunk !== undefined) written.push(Buffer.from(chunk));
    Object.assign(res, { write, end });
    const pieces = JsonList.insert(Buffer.concat(written).toString(), lists);
    if (lists.some(({ isLong }) => isLong)) void writePieces(res, pieces);
    else res.end(Buffer.concat(pieces));
    return res;
  }) as typeof end;
}
