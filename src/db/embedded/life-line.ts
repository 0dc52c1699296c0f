import { closeSync, constants, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { hasCode } from './home.ts';

/**
 * The life-line is a FIFO that every process using the server holds open for writing. The kernel closes it for a
 * process that is killed, so its reader learns of the end of the last one whatever the reason.
 */
export type Hold = { release(): void; isHeldByOthers(): boolean };

// To join, a process opens the FIFO, writes a line, and checks that the FIFO still has its name. The watcher, at
// the end of file, takes the name away and then looks for a line: one means that somebody joined in between, and
// the name comes back. The signal is repeated because a server that has only just been started ignores it.
const WATCH = `
while :; do
  while read -r _; do :; done
  mv "$line" "$line.ending" || break
  read -r _ || break
  mv "$line.ending" "$line"
done
rm -f "$line.ending"
while is_ours && kill -INT "$server" 2>/dev/null; do sleep 1; done
`;

// Opening for both directions first keeps the second open from waiting for a writer that has died meanwhile.
const OPEN = 'exec 3<>"$line" 4<"$line" 3>&- || exit';

/** `sh -c`: life-line, command… Runs the server until it ends or nobody holds its life-line. */
export const RUN_SCRIPT = `
line=$1; shift
${OPEN}
"$@" 4<&- &
server=$!
is_ours() { :; }
( ${WATCH} ) <&4 4<&- &
watcher=$!
exec 4<&-
wait "$server"; status=$?
kill "$watcher" 2>/dev/null
rm -f "$line" "$line.ending"
exit "$status"
`;

/** `sh -c`: life-line, pid, postmaster.pid. Watches over a server whose own watcher was killed. */
export const ADOPT_SCRIPT = `
line=$1; server=$2; pid_file=$3
${OPEN}
is_ours() { read -r pid <"$pid_file" && [ "$pid" = "$server" ]; }
( ${WATCH} ) <&4 4<&-
`;

/** Opens a FIFO that nobody reads yet, for the process that starts its reader. */
export function holdNew(line: string): Hold {
  const reader = openSync(line, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(line, constants.O_WRONLY | constants.O_NONBLOCK);
  closeSync(reader);
  return holdOf(line, writer);
}

/** Joins those who hold the line; `ending` when the server is about to stop, `unwatched` when nobody reads it. */
export function joinHolders(line: string): Hold | 'ending' | 'unwatched' {
  let writer: number;
  try {
    writer = openSync(line, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'ending';
    if (hasCode(error, 'ENXIO')) return 'unwatched';
    throw error;
  }
  try {
    writeSync(writer, '\n');
    if (statSync(line).ino === fstatSync(writer).ino) return holdOf(line, writer);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'EPIPE')) throw error;
  }
  closeSync(writer);
  return 'ending';
}

function holdOf(line: string, writer: number): Hold {
  let isReleased = false;
  return {
    release() {
      if (!isReleased) closeSync(writer);
      isReleased = true;
    },
    isHeldByOthers: () => hasWriters(line),
  };
}

// Reading tells it: the end of the file where nobody holds the line, EAGAIN where somebody does. The lines that are
// read on the way say nothing, since who wrote them may be gone; they are meant for the watcher and given back.
function hasWriters(line: string): boolean {
  let reader: number;
  try {
    reader = openSync(line, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
  const taken: Buffer[] = [];
  try {
    for (;;) {
      const chunk = Buffer.alloc(64);
      const length = readSync(reader, chunk);
      if (length === 0) return false;
      taken.push(chunk.subarray(0, length));
    }
  } catch (error) {
    if (!hasCode(error, 'EAGAIN')) throw error;
    if (taken.length > 0) giveBack(line, Buffer.concat(taken));
    return true;
  } finally {
    closeSync(reader);
  }
}

function giveBack(line: string, taken: Buffer): void {
  const writer = openSync(line, constants.O_WRONLY | constants.O_NONBLOCK);
  writeSync(writer, taken);
  closeSync(writer);
}
