import { closeSync, constants, fstatSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { hasCode } from './home.ts';

/**
 * A hold on the life-line: a FIFO that every process that uses the server keeps open for writing. The kernel closes
 * it for a killed process, so its reader always detects the exit of the last one.
 */
export type Hold = { release(): void; isHeldByOthers(): boolean };

const ORDERLY_STOP_SECONDS_MAX = 20;

// To join, a process opens the FIFO, writes a line, and checks that the FIFO still has its name. At the end of the
// file, the watcher renames the FIFO and then reads a line. If there is one, a process joined in between, and the
// watcher restores the name. The signal is repeated, because a server ignores it while it starts. A server whose files
// are damaged can fail to stop in order: after the bound it stops at once, and recovers at its next start.
const WATCH = `
while :; do
  while read -r _; do :; done
  mv "$line" "$line.ending" || break
  read -r _ || break
  mv "$line.ending" "$line"
done
rm -f "$line.ending"
seconds=0
while is_ours && kill "$([ "$seconds" -lt ${ORDERLY_STOP_SECONDS_MAX} ] && echo -INT || echo -QUIT)" "$server" 2>/dev/null; do
  sleep 1
  seconds=$((seconds + 1))
done
`;

// Open for both directions first, so that the second open does not wait for a writer that was killed.
const OPEN = 'exec 3<>"$line" 4<"$line" 3>&- || exit';

/** `sh -c`: life-line, command… Runs the server until it exits or no process holds its life-line. */
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

/** `sh -c`: life-line, pid, postmaster.pid. Watches a server whose watcher was killed. */
export const ADOPT_SCRIPT = `
line=$1; server=$2; pid_file=$3
${OPEN}
is_ours() { read -r pid <"$pid_file" && [ "$pid" = "$server" ]; }
( ${WATCH} ) <&4 4<&-
`;

/** Opens a FIFO without a reader, for the process that starts the reader. */
export function holdNew(line: string): Hold {
  const reader = openSync(line, constants.O_RDONLY | constants.O_NONBLOCK);
  const writer = openSync(line, constants.O_WRONLY | constants.O_NONBLOCK);
  closeSync(reader);
  return createHold(line, writer);
}

/** Joins the holders of the line. @returns `ending` if the server is about to stop, `unwatched` if there is no reader */
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
    if (statSync(line).ino === fstatSync(writer).ino) return createHold(line, writer);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'EPIPE')) throw error;
  }
  closeSync(writer);
  return 'ending';
}

function createHold(line: string, writer: number): Hold {
  let isReleased = false;
  return {
    release() {
      if (!isReleased) closeSync(writer);
      isReleased = true;
    },
    isHeldByOthers: () => hasWriters(line),
  };
}

// Reads until the end of the file, if no process holds the line, or EAGAIN, if one does. The lines that it reads are
// for the watcher, so they are written back. They prove nothing, because their writers may have exited.
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
    if (taken.length > 0) writeBack(line, Buffer.concat(taken));
    return true;
  } finally {
    closeSync(reader);
  }
}

function writeBack(line: string, taken: Buffer): void {
  const writer = openSync(line, constants.O_WRONLY | constants.O_NONBLOCK);
  writeSync(writer, taken);
  closeSync(writer);
}
