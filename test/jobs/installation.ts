import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import pg from 'pg';
import PostalMime, { type Email } from 'postal-mime';
import { onTestFinished, vi } from 'vitest';
import { createEncryption } from '../../src/crypto/encryption.ts';
import { hashSecret, createTokens } from '../../src/crypto/tokens.ts';
import { readConfig } from '../../src/config/config.ts';
import { openPatiently } from '../support/open-patiently.ts';
import { startJobs } from '../../src/service/background.ts';
import type { Worker } from '../../src/jobs/worker.ts';
import { createMailer } from '../../src/email/mailer.ts';
import { openLog } from '../../src/telemetry/log.ts';
import { createTeamInvitation } from '../../src/resources/invitations/invitations.service.ts';
import { createTestDatabase } from '../support/database.ts';
import { factoriesOf, type ATeam } from '../support/factories.ts';
import { useEventKey } from '../../src/events/chain/event-mac.ts';
import { startMailServer, type MailServer } from './mail-server.ts';
import { PATIENCE_MS } from '../support/patience.ts';

type Options = {
  smtpUrl?: string;
  settings?: Record<string, string>;
  /** The way the service takes to the database of this URL, where it is not the straight one. */
  via?: (databaseUrl: string) => Promise<string>;
};

type JobRow = { id: string; attempts: number; run_at: Date; locked_at: Date | null; last_error: string | null };

/** Everything that a mail passes: a database of its own, the worker, the mailer, and a log to look into. */
export async function install({ smtpUrl, settings = {}, via }: Options = {}) {
  const database = await createTestDatabase();
  const admin = new pg.Pool({ connectionString: database.url, max: 2 });
  admin.on('error', () => undefined);
  const dataDir = mkdtempSync(join(tmpdir(), 'roster-jobs-'));
  const config = readConfig({
    BASE_URL: 'https://roster.example',
    DATABASE_URL: via === undefined ? database.url : await via(database.url),
    DATA_DIR: dataDir,
    SECRET_KEYS: 'test-key-test-key-test-key-test-key',
    ...(smtpUrl === undefined ? {} : { SMTP_URL: smtpUrl }),
    ...settings,
  });
  const lines: string[] = [];
  const log = openLog('info', lineCollector(lines));
  const db = await openPatiently(config.databaseUrl ?? '', config.databasePoolMax);
  const services = {
    config,
    db,
    tokens: createTokens(config.tokenBrand),
    encryption: createEncryption(config.secretKeys ?? []),
    audit: () => undefined,
  };
  useEventKey(db, services.encryption);
  const factories = factoriesOf(services);
  const workers: { worker: Worker; mailer: ReturnType<typeof createMailer> }[] = [];

  onTestFinished(async () => {
    await Promise.all(workers.map(({ worker }) => worker.stop()));
    for (const { mailer } of workers) mailer.close();
    await db.close();
    await admin.end();
    await database.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function rows<Row>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    const result = await admin.query(sql, [...values]);
    return result.rows as Row[]; // the caller's SQL says what they are
  }

  /** Who owns the team, so that they can invite. */
  async function ownerOf(team: ATeam): Promise<string> {
    const [owner] = await rows<{ id: string }>(
      `select account_id as id from membership where team_id = $1 and role_id = 'owner'`,
      [team.id],
    );
    if (owner !== undefined) return owner.id;
    const inviter = await factories.anAccount({ firstName: 'Ann', lastName: 'Inviter' });
    await factories.aMember(team, inviter, { role: 'owner' });
    return inviter.id;
  }

  return {
    ...factories,
    config,
    services,
    lines,
    rows,
    databaseUrl: database.url,
    mailDirectory: join(dataDir, 'mail'),

    async work(): Promise<Worker> {
      const mailer = createMailer(config);
      const worker = await startJobs(services, mailer, log);
      workers.push({ worker, mailer });
      return worker;
    },

    /** Invites an address to a team, or again, as the operation does. @returns the invitation's id. */
    async invite(team: ATeam, email: string): Promise<string> {
      const caller = { teamId: team.id, accountId: await ownerOf(team), credential: null };
      await createTeamInvitation(services, caller, { email, roleId: 'member', isSystemRole: true });
      const [row] = await rows<{ id: string }>('select id from invitation where team_id = $1 and email = $2', [
        team.id,
        email,
      ]);
      return row?.id ?? '';
    },

    jobs: () =>
      rows<JobRow>(
        `select id, attempts, run_at, locked_at, last_error from graphile_worker.jobs where task_identifier in ('sendInvitation', 'sendAccountMail')`,
      ),

    /** Lets the time of all jobs come. */
    runJobsNow: () =>
      rows(`with due as (update graphile_worker._private_jobs set run_at = now() where locked_at is null)
            select pg_notify('jobs:insert', '{"count":4}')`),

    /** The hashes of an invitation's links, oldest first. */
    async links(invitationId: string): Promise<string[]> {
      const found = await rows<{ hash: string }>(
        `select encode(token_hash, 'hex') as hash from invitation_link where invitation_id = $1 order by created_at`,
        [invitationId],
      );
      return found.map(({ hash }) => hash);
    },
  };
}

/** Looks again and again until it holds, within a bound. */
export const eventually = <T>(look: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(look, { timeout: PATIENCE_MS, interval: 20 });

/** A mail server for the time of a test. */
export async function mailServer(): Promise<MailServer> {
  const server = await startMailServer();
  onTestFinished(server.close);
  return server;
}

/** The level of the first line that was logged with a message. */
export const levelOf = (lines: readonly string[], message: string): number | undefined =>
  lines.map((line) => JSON.parse(line) as { level: number; msg: string }).find(({ msg }) => msg === message)?.level; // pino writes these

export const parse = (raw: string | Buffer): Promise<Email> => PostalMime.parse(raw);

/** The stored hash of the token in a mail's link, in hex. */
export const linkIn = async (raw: string | undefined): Promise<string> =>
  hashSecret(tokenIn(await parse(raw ?? ''))).toString('hex');

/** The token in a mail's link. */
export function tokenIn({ text = '' }: Email): string {
  const [, token] = /^https:\/\/roster\.example\/invitation\?token=(\w+)$/m.exec(text) ?? [];
  if (token === undefined) throw new Error(`There is no link in:\n${text}`);
  return token;
}

function lineCollector(lines: string[]): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
}
