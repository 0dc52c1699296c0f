import type { Logger } from 'pino';
import type { Worker } from '../../src/jobs/worker.ts';
import type { Mail, Mailer } from '../../src/email/mailer.ts';
import type { Services } from '../../src/service/services.ts';
import { startJobs } from '../../src/service/background.ts';
import { PATIENCE_MS } from './patience.ts';

type Rows = (sql: string) => Promise<unknown[]>;

/** Lets the time of requested links come, which begin a second after the response, and whose start the worker polls for. */
const START_REQUESTED = `with due as (
    update graphile_worker._private_jobs set run_at = now()
    where locked_at is null and attempts = 0 and run_at > now() and run_at < now() + interval '2 seconds' returning id)
  select pg_notify('jobs:insert', '{"count":4}') from due limit 1`;

/** Delivers the mails of a service into memory; its worker starts with the first look. */
export function createMailbox(services: Services, log: Logger, rows: Rows) {
  const mails: Mail[] = [];
  const mailer: Mailer = { send: (mail) => Promise.resolve(void mails.push(mail)), close: () => undefined };
  let worker: Promise<Worker> | undefined;

  return {
    mails,
    /** The latest mail to an address whose subject fits, waiting for it within a bound. */
    mailTo: async (address: string, subject: RegExp = /./): Promise<Mail> => {
      worker ??= startJobs(services, mailer, log);
      await worker;
      for (
        const deadline = Date.now() + PATIENCE_MS;
        Date.now() < deadline;
        await new Promise((resolve) => setTimeout(resolve, 20))
      ) {
        const mail = mails.findLast(
          ({ to, subject: line }) => to.toLowerCase() === address.toLowerCase() && subject.test(line),
        );
        if (mail !== undefined) return mail;
        await rows(START_REQUESTED);
      }
      throw new Error(
        `No mail to ${address} with a subject like ${subject}; there are ${JSON.stringify(mails.map(({ to, subject: line }) => [to, line]))}`,
      );
    },
    async close() {
      await (await worker)?.stop();
    },
  };
}

/** The token in the link of a mail. */
export function tokenIn({ text }: Mail): string {
  const token = /[?&#]token=([\w-]+)/.exec(text)?.[1];
  if (token === undefined) throw new Error(`No link with a token in: ${text}`);
  return token;
}
