import { afterAll } from 'vitest';

type Row = {
  readonly fault: string;
  readonly requests: number;
  readonly lost: number;
  readonly duplicated: number;
  readonly failed: number;
  readonly recoveryMs: number;
};

const rows: Row[] = [];

/** Keeps what was measured for the table at the end of the file. */
export const note = (row: Row): void => void rows.push(row);

/** Prints the table of a file's faults, as docs/faults.md shows it. */
export function printTable(): void {
  afterAll(() => {
    const lines = rows.map(
      ({ fault, requests, lost, duplicated, failed, recoveryMs }) =>
        `| ${[fault, requests, lost, duplicated, failed, `${(recoveryMs / 1000).toFixed(2)} s`].join(' | ')} |`,
    );
    process.stdout.write(`\n| fault | requests | lost | duplicated | failed | recovery |\n${lines.join('\n')}\n`);
  });
}
