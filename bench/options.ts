import { parseArgs } from 'node:util';
import type { DataSet } from './data/fill.ts';
import { REQUESTS, type RequestName } from './requests.ts';
import { SERVER_KINDS, type ServerKind } from './servers.ts';

/** The steps of `--ten-million`. The last three change its database. */
export const STEPS = [
  'fill',
  'sizes',
  'backup',
  'restore',
  'requests',
  'deletes',
  'housekeeping',
  'retention',
] as const;
export type Step = (typeof STEPS)[number];

/** The servers of `--large`: that which comes with Roster, and Debian's with its defaults. */
export const POSTGRES_KINDS = ['embedded', 'system'] as const;

export const LARGE_NAMES = ['resets', 'names', 'client', 'teams', 'sessions'] as const;
export type LargeName = (typeof LARGE_NAMES)[number];

export const HELP = `npm run bench -- [options]

  --only teams,patch        which requests (${REQUESTS.join(', ')}); all
  --servers roster          which servers (${SERVER_KINDS.join(', ')}); all
  --data large              Roster on a million accounts against Roster on a few; small
  --runs 5 --seconds 5      how often and how long each is measured
  --connections 32          how many requests are under way at once
  --workers 1,2,4           Roster with so many WORKERS, instead of the comparison
  --poolers                 Roster directly and through PgBouncer in both modes, instead of the comparison
  --permissions             what the permissions of a product cost who verifies keys, instead of the comparison
  --lists                   lists of 10,000 members and of 2,000 teams, instead of the comparison
  --ten-million             ten million accounts, 30 million memberships, 20 million events: about 50 GB of disk, an hour
  --scale 100               a hundredth of that
  --folder DIR              keeps its databases there, so that a second run goes on with them
  --steps requests,deletes  which steps of it (${STEPS.join(', ')}); all
  --console                 how soon pages of the console can be used, in Chromium, instead of the comparison
  --deletes                 deletes of what has very many rows below it, instead of the comparison
  --neighbours              what one tenant notices of floods by another, instead of the comparison
  --large                   what one tenant notices of work on very many rows, and of connections that are reset
  --large-only client       which of it (${LARGE_NAMES.join(', ')}); all
  --postgres system         the servers of --neighbours and --large (${POSTGRES_KINDS.join(', ')}); both
  --pin                     the servers on the first core, everything else on the second (Linux, taskset)
  --json FILE               the numbers as JSON as well
`;

export type Options = {
  readonly only: readonly RequestName[];
  readonly servers: readonly ServerKind[];
  readonly data: DataSet;
  readonly runs: number;
  readonly seconds: number;
  readonly connections: number;
  readonly workers: readonly number[];
  readonly poolers: boolean;
  readonly permissions: boolean;
  readonly lists: boolean;
  readonly neighbours: boolean;
  readonly console: boolean;
  readonly deletes: boolean;
  readonly tenMillion: boolean;
  readonly scale: number;
  readonly folder: string | undefined;
  readonly steps: readonly Step[];
  readonly large: boolean;
  readonly largeOnly: readonly LargeName[];
  readonly postgres: readonly (typeof POSTGRES_KINDS)[number][];
  readonly pin: boolean;
  readonly json: string | undefined;
};

/** @throws with one line that names what is wrong */
export function readOptions(args: readonly string[]): Options | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      servers: { type: 'string' },
      data: { type: 'string', default: 'small' },
      runs: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '5' },
      connections: { type: 'string', default: '32' },
      workers: { type: 'string', default: '' },
      poolers: { type: 'boolean', default: false },
      permissions: { type: 'boolean', default: false },
      lists: { type: 'boolean', default: false },
      neighbours: { type: 'boolean', default: false },
      console: { type: 'boolean', default: false },
      deletes: { type: 'boolean', default: false },
      'ten-million': { type: 'boolean', default: false },
      scale: { type: 'string', default: '1' },
      large: { type: 'boolean', default: false },
      'large-only': { type: 'string' },
      postgres: { type: 'string' },
      pin: { type: 'boolean', default: false },
      folder: { type: 'string' },
      steps: { type: 'string' },
      json: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return 'help';
  return {
    only: some('--only', values.only, REQUESTS),
    servers: some('--servers', values.servers, SERVER_KINDS),
    data: some('--data', values.data, ['small', 'large'])[0] ?? 'small',
    runs: count('--runs', values.runs),
    seconds: count('--seconds', values.seconds),
    connections: count('--connections', values.connections),
    workers: values.workers
      .split(',')
      .filter(Boolean)
      .map((text) => count('--workers', text)),
    poolers: values.poolers,
    permissions: values.permissions,
    lists: values.lists,
    neighbours: values.neighbours,
    console: values.console,
    deletes: values.deletes,
    tenMillion: values['ten-million'],
    scale: count('--scale', values.scale),
    folder: values.folder,
    steps: some('--steps', values.steps, STEPS),
    large: values.large,
    largeOnly: some('--large-only', values['large-only'], LARGE_NAMES),
    postgres: some('--postgres', values.postgres, POSTGRES_KINDS),
    pin: values.pin,
    json: values.json,
  };
}

function some<Name extends string>(option: string, text: string | undefined, known: readonly Name[]): readonly Name[] {
  if (text === undefined) return known;
  return text.split(',').map((word) => {
    const name = known.find((candidate) => candidate === word);
    if (name === undefined) throw new Error(`${option}: ${word} is none of ${known.join(', ')}`);
    return name;
  });
}

function count(option: string, text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Error(`${option}: ${text} is not a number of at least 1`);
  return Number(text);
}
