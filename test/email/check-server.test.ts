import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { expect, onTestFinished, test } from 'vitest';
import { checkMailServer } from '../../src/email/check-server.ts';
import { PATIENCE_MS } from '../support/patience.ts';

const FROM = { name: 'Acme', address: 'teams@acme.example' };

/** A real SMTP server, which notes the commands of its sessions. */
async function aServer(options: SMTPServerOptions) {
  const seen: string[] = [];
  const server = new SMTPServer({
    logger: false,
    closeTimeout: 100,
    onMailFrom: ({ address }, _session, done) => (seen.push(`from ${address}`), done()),
    onData: (stream, _session, done) => {
      stream.on('data', () => seen.push('data'));
      stream.on('end', done);
    },
    ...options,
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)));
  const { port } = server.server.address() as AddressInfo; // listening on TCP
  const check = (login = '') => checkMailServer(`smtp://${login}127.0.0.1:${port}`, FROM, PATIENCE_MS);
  return { seen, check };
}

const PLAIN: SMTPServerOptions = { disabledCommands: ['AUTH', 'STARTTLS'] };
const WITH_LOGIN: SMTPServerOptions = {
  disabledCommands: ['STARTTLS'],
  allowInsecureAuth: true,
  onAuth: ({ username, password }, _session, done) =>
    username === 'ada' && password === 'secret' ? done(null, { user: username }) : done(new Error('Wrong login')),
};

test('a mail server that accepts the sender is asked for no more, and gets no email', async () => {
  const { seen, check } = await aServer(PLAIN);

  await check();

  expect(seen).toEqual(['from teams@acme.example']);
});

test('one that accepts the sender and does not deliver to itself accepts email', async () => {
  const { check } = await aServer({ ...PLAIN, onRcptTo: (_address, _session, done) => done(new Error('No relay')) });

  await check();
});

test('a login is tried, and its lack is found', async () => {
  const { seen, check } = await aServer(WITH_LOGIN);

  await expect(check()).rejects.toThrow(/530/);
  await expect(check('ada:wrong@')).rejects.toThrow(/Wrong login/);
  expect(seen).toEqual([]);
  await check('ada:secret@');
  expect(seen).toEqual(['from teams@acme.example']);
});

test('a certificate that is not trusted is found', async () => {
  // The server has one of its own making.
  const { check } = await aServer({ authOptional: true });

  await expect(check()).rejects.toThrow(/certificate/);
});

test('a sender that is refused is found', async () => {
  const { check } = await aServer({
    ...PLAIN,
    onMailFrom: (_address, _session, done) => done(new Error('Sender is not verified')),
  });

  await expect(check()).rejects.toThrow(/Sender is not verified/);
});

test('what only greets, is silent or is no mail server is none', async () => {
  for (const greet of ['220 mail.example.com ESMTP\r\n', 'HTTP/1.1 400 Bad Request\r\n\r\n']) {
    const server = createServer((socket) => socket.end(greet)).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // listening on TCP
    await expect(checkMailServer(`smtp://127.0.0.1:${port}`, FROM, PATIENCE_MS)).rejects.toThrow(Error);
  }
  const silent = createServer((socket) => onTestFinished(() => void socket.destroy())).listen(0, '127.0.0.1');
  onTestFinished(() => void silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo; // listening on TCP
  await expect(checkMailServer(`smtp://127.0.0.1:${port}`, FROM, 50)).rejects.toThrow('no answer within 50 ms');
});
