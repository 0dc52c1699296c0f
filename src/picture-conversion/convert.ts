import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ProblemError } from '../problems/error.ts';
import { SECOND_MS } from '../time.ts';
import { Turns } from '../turns.ts';
import { DAMAGED_EXIT, PIXELS_MAX, TOO_LARGE_EXIT } from './limits.ts';

const PROGRAM = fileURLToPath(new URL('./convert.process.ts', import.meta.url));
const TIMEOUT_MS = 15_000;
const STDERR_LENGTH_MAX = 500;

const KEY = 'pictures';
const turns = new Turns({
  total: 1,
  perKey: 1,
  queuePerKey: 21,
  waitMs: 60 * SECOND_MS,
  refuse: () => new ProblemError('service_unavailable', 'Too many pictures are being processed.', { retryAfter: 5 }),
});

const rejected = (detail: string) => new ProblemError('picture_rejected', detail);

/**
 * Converts a JPEG, PNG or WebP picture to a square WebP without metadata. A process of its own decodes it, one at a
 * time: a faulty decoder cannot end the service or read its memory, its memory is returned, and it can be killed.
 * @param over kills the process, and leaves the queue
 * @throws picture_rejected (400), service_unavailable (503) if too many pictures wait, or for too long; CallerGoneError
 */
export async function convertPicture(bytes: Buffer, over: AbortSignal): Promise<Buffer> {
  if (!isPicture(bytes)) throw rejected('The file is not a JPEG, PNG or WebP picture.');
  const { code, output, errors } = await turns.run({ keys: [KEY], caller: { over } }, () => run(bytes, over));
  if (code === 0 && output.length > 0) return output;
  if (code === TOO_LARGE_EXIT)
    throw rejected(`The picture has more than ${PIXELS_MAX / 1_000_000} million pixels. Make it smaller.`);
  // Killed: by the time limit, for its memory, or because the decoder crashed.
  if (code === DAMAGED_EXIT || code === null) throw rejected('The picture is damaged or incomplete.');
  throw new Error(`The conversion of a picture exited with ${code}: ${errors}`);
}

/** Whether a file begins like a JPEG, PNG or WebP. */
function isPicture(bytes: Buffer): boolean {
  const start = bytes.toString('latin1', 0, 12);
  return start.startsWith('\xFF\xD8\xFF') || start.startsWith('\x89PNG\r\n\x1A\n') || /^RIFF.{4}WEBP$/s.test(start);
}

type Ended = { readonly code: number | null; readonly output: Buffer; readonly errors: string };

function run(bytes: Buffer, signal: AbortSignal): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const { SystemRoot } = process.env;
    const child = spawn(process.execPath, [PROGRAM], {
      // Without the settings of the service, which are secrets. Windows starts no program without this one.
      env: SystemRoot === undefined ? {} : { SystemRoot },
      signal,
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
      windowsHide: true,
    });
    const output: Buffer[] = [];
    let errors = '';
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-STDERR_LENGTH_MAX)));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output: Buffer.concat(output), errors }));
    // It can end before it has read everything.
    child.stdin.on('error', () => undefined);
    child.stdin.end(bytes);
  });
}
