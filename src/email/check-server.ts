import { Readable } from 'node:stream';
import { parseConnectionUrl } from 'nodemailer/lib/shared';
import SmtpConnection from 'nodemailer/lib/smtp-connection';
import type { Mailbox } from '../config/mailbox.ts';
import { TIMEOUTS } from './mailer.ts';

/**
 * Connects to the mail server as the mailer does, with STARTTLS and the login, and asks whether it accepts email from
 * the sender. Sends none: the connection is closed before the first byte of it.
 * @throws Error with the reason
 */
export async function checkMailServer(smtpUrl: string, from: Mailbox, waitMs: number): Promise<void> {
  const options = parseConnectionUrl(smtpUrl);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const connection = new SmtpConnection({ ...options, ...TIMEOUTS });
  const timer = setTimeout(() => reject(new Error(`no answer within ${waitMs} ms`)), waitMs);
  connection.on('error', reject);
  connection.on('end', () => reject(new Error('the server closed the connection')));
  connection.connect(() => {
    const { auth } = options;
    if (auth === undefined || connection.authenticated) ask();
    else connection.login(auth, (error) => (error ? reject(error) : ask()));
  });

  function ask(): void {
    const message = new Readable({ read: () => undefined });
    message.pipe = (target) => (resolve(), target);
    // RCPT TO follows MAIL FROM. Who the server delivers to is another question.
    connection.send({ from: from.address, to: from.address }, message, (error) =>
      error !== null && error.command === 'MAIL FROM' ? reject(error) : resolve(),
    );
  }

  try {
    await promise;
  } finally {
    clearTimeout(timer);
    connection.on('error', () => undefined);
    connection.close();
  }
}
