import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

// What Linux knows of processes; elsewhere there are no such numbers, and the table has a dash.

const TICKS_PER_SECOND = 100; // USER_HZ, the same on every Linux that Node runs on

const isLinux = process.platform === 'linux';

/** The fields of /proc/<pid>/stat after the name, which may contain anything. */
function statOf(pid: number | string): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

export const parentOf = (pid: number): number => Number(statOf(pid)?.[1] ?? 0);

/** utime, stime, and those of the children that have ended. */
const CPU_FIELDS = [11, 12, 13, 14];

/** CPU time that processes and their ended children have used so far, in seconds. */
export const cpuSecondsOf = (pids: readonly number[]): number =>
  pids
    .flatMap((pid) => CPU_FIELDS.map((field) => Number(statOf(pid)?.[field] ?? 0)))
    .reduce((sum, ticks) => sum + ticks / TICKS_PER_SECOND, 0);

/** A process and its children, as they are now. */
export function familyOf(pid: number): number[] {
  if (!isLinux || pid === 0) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((candidate) => candidate === pid || parentOf(candidate) === pid);
}

function megabytesOf(pid: number, line: 'VmRSS' | 'VmHWM'): number {
  const status = isLinux ? readFileSync(`/proc/${pid}/status`, 'utf8') : '';
  return Number(new RegExp(`^${line}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? NaN) / 1024;
}

export const residentMegabytes = (pid: number): number => megabytesOf(pid, 'VmRSS');

/** The most it has been since the last call of `forgetPeak`. */
export const peakMegabytes = (pid: number): number => megabytesOf(pid, 'VmHWM');

export function forgetPeak(pid: number): void {
  if (isLinux) writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
