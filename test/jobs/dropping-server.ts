import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** The steps of a delivery (RFC 5321) at which a server can close the connection or answer with an error. */
export type Step = 'greeting' | 'EHLO' | 'MAIL FROM' | 'RCPT TO' | 'DATA' | 'body' | 'accepted';

const STEPS: readonly (readonly [RegExp, Step, answer: string])[] = [
  [/^EHLO/i, 'EHLO', '250 test'],
  [/^MAIL FROM/i, 'MAIL FROM', '250 ok'],
  [/^RCPT TO/i, 'RCPT TO', '250 ok'],
  [/^DATA/i, 'DATA', '354 go on'],
];

/**
 * A minimal SMTP server that misbehaves once: at `step` it closes the connection, or answers with `answer`.
 * At `body` it closes after the first bytes of the content; at `accepted` after it has stored the email and
 * before its answer, which no client can tell from an email that was lost.
 */
export async function startDroppingServer(step: Step, answer?: string) {
  const accepted: string[] = [];
  const state = { attempts: 0, isDone: false };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    serve(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // listening on TCP

  /** @returns whether the step was the one that fails */
  function fails(at: Step, socket: Socket): boolean {
    if (at !== step || state.isDone) return false;
    state.isDone = true;
    if (answer === undefined) socket.destroy();
    else socket.write(`${answer}\r\n`);
    return true;
  }

  function serve(socket: Socket): void {
    let text = '';
    let isBody = false;
    if (fails('greeting', socket)) return;
    socket.write('220 test\r\n');
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (isBody && fails('body', socket)) return;
      for (;;) {
        const end = isBody ? text.indexOf('\r\n.\r\n') : text.indexOf('\r\n');
        if (end === -1) return;
        const part = text.slice(0, end);
        text = text.slice(end + (isBody ? 5 : 2));
        if (isBody) {
          isBody = false;
          // Another response than the acceptance rejects the content; without one it is stored, and the response lost.
          if (step !== 'accepted' || state.isDone || answer === undefined) accepted.push(part);
          if (!fails('accepted', socket)) socket.write('250 stored\r\n');
        } else {
          const [, name, reply] = STEPS.find(([pattern]) => pattern.test(part)) ?? [];
          if (name === 'MAIL FROM') state.attempts += 1;
          if (name !== undefined && fails(name, socket)) continue;
          isBody = name === 'DATA';
          socket.write(`${reply ?? (/^QUIT/i.test(part) ? '221 bye' : '250 ok')}\r\n`);
        }
      }
    });
  }

  return {
    url: `smtp://127.0.0.1:${port}`,
    /** The emails that the server took over. */
    accepted,
    attempts: () => state.attempts,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
