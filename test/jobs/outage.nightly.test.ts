import { describe, expect, onTestFinished, test } from 'vitest';
import { eventually, install, levelOf, mailServer } from './installation.ts';
import { startProxy } from './proxy.ts';

/** A proxy before the database, with `via` for `install`. */
async function cuttable() {
  const proxies: Awaited<ReturnType<typeof startProxy>>[] = [];
  return {
    async via(databaseUrl: string): Promise<string> {
      const url = new URL(databaseUrl);
      const proxy = await startProxy({ host: url.hostname, port: Number(url.port) });
      proxies.push(proxy);
      onTestFinished(proxy.cut);
      url.port = String(proxy.port);
      return url.href;
    },
    cut: () => Promise.all(proxies.map((proxy) => proxy.cut())),
    mend: () => Promise.all(proxies.map((proxy) => proxy.mend())),
  };
}

describe('a database that is away', () => {
  test('does not end the worker: it sends emails again after the recovery', async () => {
    const [server, database] = await Promise.all([mailServer(), cuttable()]);
    const roster = await install({ smtpUrl: server.url, via: (url) => database.via(url) });
    await roster.work();
    await roster.invite(await roster.aTeam(), 'bob@example.com');
    await eventually(() => expect(server.mails).toHaveLength(1));

    await database.cut();
    await eventually(() => expect(roster.lines.join('')).toMatch(/notify listener|worker stopped/));
    await database.mend();
    await eventually(() => expect(roster.lines.filter((line) => line.includes('Worker connected'))).toHaveLength(2));
    await roster.invite(await roster.aTeam(), 'carol@example.com');

    await eventually(() => expect(server.mails).toHaveLength(2));
    await eventually(async () => expect(await roster.jobs()).toEqual([]));
  });

  // Guarantees "once, except after a crash": the moment between the sending of an email and its record.
  test('for a moment after an email was sent does not send it again', async () => {
    const [server, database] = await Promise.all([mailServer(), cuttable()]);
    const roster = await install({ smtpUrl: server.url, via: (url) => database.via(url) });
    await roster.work();
    server.answerWith(() => database.cut().then(() => undefined));

    const invitationId = await roster.invite(await roster.aTeam(), 'bob@example.com');
    await eventually(() => expect(server.mails).toHaveLength(1));
    await database.mend();
    await eventually(async () => expect(await roster.jobs()).toEqual([]));

    expect(server.mails).toHaveLength(1);
    expect(await roster.links(invitationId)).toHaveLength(1);
    expect(await roster.rows('select * from sent_mail')).toHaveLength(1);
  });

  // Guarantees "at least once" through an outage that outlasts a job: its row stays locked by a dead worker.
  test('for long leaves no job behind', async () => {
    const [server, database] = await Promise.all([mailServer(), cuttable()]);
    const roster = await install({ smtpUrl: server.url, via: (url) => database.via(url) });
    await roster.work();
    server.answerWith(() => database.cut().then(() => undefined));
    await roster.invite(await roster.aTeam(), 'bob@example.com');
    await eventually(() => expect(levelOf(roster.lines, 'worker stopped, restart scheduled')).toBe(40));

    await database.mend();
    await roster.rows(`update graphile_worker._private_jobs set locked_at = now() - interval '16 minutes'`);
    await roster.rows(`select graphile_worker.add_job('recover_jobs')`);
    await eventually(async () =>
      expect(await roster.rows('select from graphile_worker.jobs where locked_at is not null')).toEqual([]),
    );
    await roster.runJobsNow();

    await eventually(async () => expect(await roster.jobs()).toEqual([]));
    expect(server.mails).toHaveLength(2);
    expect(await roster.rows('select * from sent_mail')).toHaveLength(1);
  });
});
