import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { makeDataDir, removeDataDir, startService } from '../support/service.ts';

const FILES = 200;

// Guarantees that strangers, who need no credential to connect, cannot take the files that queries need.
test('more connections than files do not prevent those that are served from reading the database', async () => {
  const dataDir = makeDataDir();
  const service = await startService({ dataDir, env: { SEED_DEMO: 'off' }, maxFiles: FILES });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(async () => {
    agent.destroy();
    service.kill();
    await service.exited;
    await removeDataDir(dataDir);
  });
  const read = async () => {
    const [answer] = (await once(get(`${service.url}/readyz`, { agent }), 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    return answer.statusCode;
  };
  expect(await read()).toBe(200);

  const strangers = Array.from({ length: FILES * 2 }, () => connect(service.port, '127.0.0.1'));
  onTestFinished(() => {
    for (const stranger of strangers) stranger.destroy();
  });
  const ends = strangers.map((stranger) => Promise.race([once(stranger, 'close'), once(stranger, 'error')]));
  // Those beyond the bound are closed at once; the others stay silent, and leave files for queries.
  const silent = new Set(strangers);
  strangers.forEach((stranger, index) => void ends[index]?.then(() => silent.delete(stranger)));
  await expect.poll(() => silent.size).toBeLessThan(FILES - 50);

  for (let i = 0; i < 5; i += 1) expect(await read()).toBe(200);
  expect(service.lines.filter((line) => /EMFILE|getaddrinfo/.test(line))).toEqual([]);
});
