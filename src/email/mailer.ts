import { hash, randomBytes } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport, type Transporter } from 'nodemailer';
import type { Mailbox } from '../config/mailbox.ts';
import { UndeliverableError } from './rejection.ts';
import { MINUTE_MS, SECOND_MS } from '../time.ts';

export type Mail = { readonly to: string; readonly subject: string; readonly text: string; readonly html: string };

/** An email with an id that is the same for each attempt to send it, so that a receiver can recognize a repeated one. */
type OutgoingMail = Mail & { readonly id: string };

/** Sends emails one by one. @throws if the other side did not accept an email */
export type Mailer = {
  send(mail: OutgoingMail, signal?: AbortSignal): Promise<void>;
  close(): void;
};

type MailSettings = { readonly smtpUrl?: string | undefined; readonly mailFrom: Mailbox; readonly dataDir: string };

/** The maximum duration of a delivery. Socket timeouts do not limit a server that responds slowly but steadily. */
const SEND_MS = MINUTE_MS;
const CONNECT_MS = 10 * SECOND_MS;
const SILENCE_MS = 30 * SECOND_MS;

/** Of each step of a connection. */
export const TIMEOUTS = {
  connectionTimeout: CONNECT_MS,
  greetingTimeout: CONNECT_MS,
  dnsTimeout: CONNECT_MS,
  socketTimeout: SILENCE_MS,
};

/** Sends emails to the SMTP server or, without one, writes each to a file in `<dataDir>/mail`. */
export const createMailer = ({ smtpUrl, mailFrom, dataDir }: MailSettings): Mailer =>
  smtpUrl === undefined ? createFileMailer(join(dataDir, 'mail'), mailFrom) : createSmtpMailer(smtpUrl, mailFrom);

function createSmtpMailer(url: string, from: Mailbox): Mailer {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: 4,
    // The job retries. Retries by the pool could deliver an email several times.
    maxRequeues: 0,
    idleTimeout: SILENCE_MS,
    ...TIMEOUTS,
  });
  // Without a listener, an error of an idle connection would end the process.
  transport.on('error', () => undefined);

  return {
    async send(mail, signal) {
      // AbortSignal.timeout and AbortSignal.any would keep each email in memory until the timeout.
      const deadline = new AbortController();
      const timer = setTimeout(
        () => deadline.abort(new Error(`The mail server took more than ${SEND_MS} ms`)),
        SEND_MS,
      );
      const abort = () => deadline.abort(signal?.reason);
      if (signal?.aborted) abort();
      signal?.addEventListener('abort', abort);
      try {
        await transport.sendMail({ ...toMessage(mail, from), signal: deadline.signal });
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
      }
    },
    close: () => transport.close(),
  };
}

function createFileMailer(directory: string, from: Mailbox): Mailer {
  const composer = createTransport({ streamTransport: true, buffer: true });
  return {
    async send(mail) {
      const content = await compose(composer, mail, from);
      // Emails contain links that sign in, so only the owner of the files can read them.
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const name = `${new Date().toISOString().replaceAll(':', '-')}-${randomBytes(4).toString('hex')}`;
      const unfinished = join(directory, `.${name}.tmp`);
      try {
        await writeFile(unfinished, content, { mode: 0o600, flag: 'wx' });
        await rename(unfinished, join(directory, `${name}.eml`));
      } catch (error) {
        await rm(unfinished, { force: true });
        throw error;
      }
    },
    close: () => composer.close(),
  };
}

async function compose(composer: Transporter, mail: OutgoingMail, from: Mailbox): Promise<Buffer> {
  const { message: content }: { message?: unknown } = await composer.sendMail(toMessage(mail, from));
  if (!Buffer.isBuffer(content)) throw new Error('The composer returned no message.');
  return content;
}

const toMessage = ({ id, to, subject, text, html }: OutgoingMail, from: Mailbox) => ({
  from,
  messageId: `<${hash('sha256', `message ${id}`).slice(0, 32)}@${from.address.replace(/.*@/, '')}>`,
  // An object, so that commas and brackets in the address cannot add recipients.
  to: { name: '', address: requirePlainAddress(to) },
  subject: subject.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '),
  text,
  html,
  // Suppresses automatic replies (RFC 3834).
  headers: { 'Auto-Submitted': 'auto-generated' },
  disableFileAccess: true,
  disableUrlAccess: true,
});

/** @throws UndeliverableError if the address contains whitespace, control characters or angle brackets */
function requirePlainAddress(address: string): string {
  if (/[\p{C}\s<>]/u.test(address)) throw new UndeliverableError('Invalid email address');
  return address;
}
