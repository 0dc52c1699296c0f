import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Router, type Request, type Response } from 'express';
import { z } from 'zod';
import { isLiveOperatorSession } from '../auth/operator.ts';
import type { Principal } from '../auth/principal.ts';
import { ADVISORY_LOCKS } from '../db/advisory-locks.ts';
import type { Database } from '../db/database.ts';
import { openOwnConnection, type OwnConnection } from './own-connection.ts';
import { ProblemError } from '../problems/error.ts';
import { runAs } from '../events/actor.ts';
import { recordNow } from '../transactions/record-now.ts';
import type { HttpServices } from '../http/http-services.ts';
import { identifySession } from '../http/identify-session.ts';
import { requestIdsOf } from '../http/request-id.ts';
import { createContext, toActor, type Context } from '../procedures/context.ts';
import { cursorsOf } from '../procedures/cursors.ts';
import { requireOperator } from '../procedures/procedures.ts';
import { findIssues } from '../procedures/known-members.ts';
import { toValidationEntries } from '../procedures/validation.ts';
import { EXPORTS, exportList, type ExportName } from '../resources/operator/export.ts';
import { Turns } from '../turns.ts';

/** Exports that run in this process at a time, each with a connection of its own. */
const RUNNING_MAX = 2;

/**
 * Creates the routes that export the lists of the operator as CSV, each with the input of its procedure as JSON in
 * `input`. Other than an answer of a procedure, the list is of any length: it is read and sent page by page.
 */
export function createExportRouter(http: HttpServices): Router {
  const pages = Router({ caseSensitive: true, strict: true });
  const turns = new Turns({ total: RUNNING_MAX, perKey: RUNNING_MAX });
  for (const name of Object.keys(EXPORTS) as ExportName[])
    pages.all(`/exports/${name}.csv`, async (req, res) => {
      res.locals['operation'] = `exports.${name}`;
      if (req.method !== 'GET') throw new ProblemError('method_not_allowed', undefined, { allow: 'GET' });
      const caller = await admit(http, req, res);
      const input = parseInput(name, req.query);
      const leave = turns.tryEnter([caller.principal.accountId]);
      if (leave === undefined)
        throw new ProblemError('service_unavailable', 'Too many exports are running.', { retryAfter: 10 });
      try {
        await sendExport(http.services.db, caller, { name, input }, res);
      } finally {
        leave();
      }
    });
  return pages;
}

type ExportCaller = { readonly principal: Principal; readonly context: Context };

async function admit(http: HttpServices, req: Request, res: Response): Promise<ExportCaller> {
  const { services } = http;
  const address = http.clientAddress(req);
  const requestIds = requestIdsOf(req);
  const { principal, authentication } = await identifySession(http, req, res, {
    address,
    path: req.path,
    teamId: null,
  });
  await requireOperator(services.db, principal.accountId);
  return { principal, context: createContext(services, { requestIds, address, authentication }) };
}

type Exported = { readonly name: ExportName; readonly input: object };

/** Sends a list. A response that cannot be completed is cut off, so that it is not taken for the whole. */
async function sendExport(
  db: Database,
  { principal, context }: ExportCaller,
  { name, input }: Exported,
  res: Response,
): Promise<void> {
  const { accountId } = principal;
  const connection = await openOwnConnection(db.url, 'export', [ADVISORY_LOCKS.operatorExport, accountId]);
  if (connection === null) throw new ProblemError('export_running');
  try {
    const rows = exportList(connection, cursorsOf(context), name, input, async () => {
      if (!(await isLiveOperatorSession(connection, principal))) throw new ProblemError('credential_invalid');
    });
    // Before anything is sent, so that its failure is still an answer.
    const { value: first = '' } = await rows.next();
    const filter = Object.keys(input).filter((key) => key !== 'sort');
    const event = { accountId, list: name, filter };
    await runAs(toActor(context, true), () => recordNow(db, 'operator.list_exported', event));
    res.set({
      'Content-Type': 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': `attachment; filename="${name}.csv"`,
    });
    await pipeline(Readable.from(sendAll(first, rows, connection)), res);
  } catch (error) {
    if (!hasGone(error)) throw error;
  } finally {
    await connection.close();
  }
}

/** Closes the connection before the response ends, so that the next export of the operator can begin at once. */
async function* sendAll(first: string, rest: AsyncIterable<string>, connection: OwnConnection): AsyncGenerator<string> {
  yield first;
  yield* rest;
  await connection.close();
}

/** Whether the client has gone, which is no failure. */
const hasGone = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  (error.code === 'ERR_STREAM_PREMATURE_CLOSE' || error.code === 'ERR_STREAM_UNABLE_TO_PIPE');

const QUERY = z.object({ input: z.string().optional() });

/** Reads the JSON of `input` as procedures of the operator read theirs: unknown members too are 400. */
function parseInput(name: ExportName, query: Request['query']): object {
  const schema = EXPORTS[name].input;
  const given = parseJson(query['input']);
  const issues = [...findIssues(QUERY, query), ...findIssues(schema, given)];
  if (issues.length === 0) return schema.parse(given);
  const errors = toValidationEntries(issues, given, () => 'query');
  throw new ProblemError('validation_failed', undefined, { errors });
}

function parseJson(text: unknown): unknown {
  if (text === undefined) return {};
  try {
    return typeof text === 'string' ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}
