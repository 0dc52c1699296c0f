import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

export type Question = { readonly name: string; readonly type: 'A' | 'AAAA' };

/** What a name server answers: an address, that there is none, that there is no such name, or nothing at all. */
type Answer = readonly number[] | 'no address' | 'no name' | 'silence';

/** A DNS server on this machine, with what it was asked. */
export async function aNameServer(answer: (question: Question) => Answer) {
  const questions: Question[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, { port, address }) => {
    const question = readQuestion(message);
    questions.push(question);
    const found = answer(question);
    if (found !== 'silence') socket.send(createResponse(message, found), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => void socket.close());
  return { server: `127.0.0.1:${socket.address().port}`, questions };
}

/** Where the question ends: after its name, type and class. */
function endOfQuestion(message: Buffer): number {
  let at = 12;
  while (message[at] !== 0) at += 1 + (message[at] ?? 0);
  return at + 5;
}

function readQuestion(message: Buffer): Question {
  const end = endOfQuestion(message);
  const labels: string[] = [];
  for (let at = 12; message[at] !== 0; at += 1 + (message[at] ?? 0))
    labels.push(message.toString('latin1', at + 1, at + 1 + (message[at] ?? 0)));
  return { name: labels.join('.'), type: message.readUInt16BE(end - 4) === 28 ? 'AAAA' : 'A' };
}

/** A response with at most one record (RFC 1035, section 4.1). */
function createResponse(message: Buffer, found: Exclude<Answer, 'silence'>): Buffer {
  const end = endOfQuestion(message);
  const address = typeof found === 'string' ? [] : found;
  const header = Buffer.from(message.subarray(0, 12));
  header.writeUInt16BE(found === 'no name' ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(address.length > 0 ? 1 : 0, 6);
  header.fill(0, 8);
  // The name by a pointer to the question, its type and class, a time to live of a minute, and the address.
  const record = [0xc0, 12, ...message.subarray(end - 4, end), 0, 0, 0, 60, 0, address.length, ...address];
  return Buffer.concat([header, message.subarray(12, end), Buffer.from(address.length > 0 ? record : [])]);
}
