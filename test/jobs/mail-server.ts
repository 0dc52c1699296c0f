import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

export type MailServer = Awaited<ReturnType<typeof startMailServer>>;

/** A real SMTP server on a loopback port that keeps what it gets. */
export async function startMailServer() {
  const mails: string[] = [];
  const state = { answers: [] as (() => Promise<void> | void)[], arriving: 0 };
  let server = create();
  await listen(0);
  const { port } = server.server.address() as AddressInfo; // listening on TCP

  function create(): SMTPServer {
    const made = new SMTPServer({
      disabledCommands: ['AUTH', 'STARTTLS'],
      logger: false,
      closeTimeout: 100,
      onData(stream, _session, done) {
        state.arriving += 1;
        void answer(stream, done);
      },
    });
    // Clients that go away are no fault of the server's.
    made.on('error', () => undefined);
    return made;
  }

  async function answer(stream: NodeJS.ReadableStream, done: (error?: Error) => void): Promise<void> {
    try {
      await receive(stream);
      done();
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  }

  async function receive(stream: NodeJS.ReadableStream): Promise<void> {
    const mail = await text(stream);
    await state.answers.shift()?.();
    mails.push(mail);
  }

  async function listen(onPort: number): Promise<void> {
    server.listen(onPort, '127.0.0.1');
    await once(server.server, 'listening');
  }

  const close = () => new Promise<void>((resolve) => server.close(resolve));

  return {
    url: `smtp://127.0.0.1:${port}`,
    /** What was accepted, as it came in. */
    mails,
    /** How many mails came in, accepted or not. */
    arriving: () => state.arriving,
    /** What happens before the next mails are accepted, in their order; a throw refuses the mail. */
    answerWith: (...answers: (() => Promise<void> | void)[]) => state.answers.push(...answers),
    close,
    async reopen() {
      server = create();
      await listen(port);
    },
  };
}
