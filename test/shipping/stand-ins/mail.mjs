// Accepts every email at port 1025 and lists what came in at port 8025, as Mailpit does.
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const mails = [];

createServer((socket) => {
  const reply = (line) => void socket.write(`${line}\r\n`);
  let mail;
  socket.on('error', () => undefined);
  reply('220 mail');
  createInterface(socket).on('line', (line) => {
    if (mail === undefined) {
      const command = line.slice(0, 4).toUpperCase();
      if (command === 'DATA') mail = [];
      reply(command === 'DATA' ? '354 go on' : command === 'QUIT' ? '221 bye' : '250 ok');
      if (command === 'QUIT') socket.end();
    } else if (line === '.') {
      mails.push(mail.join('\n'));
      mail = undefined;
      reply('250 accepted');
    } else mail.push(line);
  });
}).listen(1025);

createHttpServer((_request, response) => response.end(JSON.stringify(mails))).listen(8025);
process.once('SIGTERM', () => process.exit());
