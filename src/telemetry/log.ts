import { pino, type DestinationStream, type Logger } from 'pino';

/** The log: one JSON object a line. Of an error it says what an operator needs, and nothing that somebody else wrote. */
export const openLog = (level: string, destination: DestinationStream): Logger =>
  pino({ level, serializers: { err: describeError } }, destination);

type Described = { type: string; message: string; stack: string; cause?: Described } & Record<string, unknown>;

/** What the database and Redis tell of an error beside the values of a row and the words of a command. */
const FACTS = ['code', 'errno', 'syscall', 'schema', 'table', 'column', 'constraint', 'routine'] as const;

const CAUSES_MAX = 3;

function describeError(error: unknown, depth = 0): Described {
  if (!(error instanceof Error)) return { type: typeof error, message: '', stack: '' };
  const told = new Map(Object.entries(error));
  return {
    type: error.constructor.name,
    message: messageOf(error),
    stack: framesOf(error),
    ...Object.fromEntries(FACTS.filter((fact) => told.has(fact)).map((fact) => [fact, told.get(fact)])),
    ...(error.cause instanceof Error && depth < CAUSES_MAX && { cause: describeError(error.cause, depth + 1) }),
  };
}

/** All of a line before it quotes something that is no name of ours. */
const WITHOUT_VALUES =
  /^(?:[^"]|(?<=\b(?:relation|table|column|constraint|index|type|schema|function|role|user|database) )"[\w.]+")*/;

/**
 * What an error says, without values: PostgreSQL's first line can quote one and the next ones show whole rows,
 * and parsers show what they could not read.
 */
function messageOf({ message }: Error): string {
  const [line = ''] = message.split('\n', 1);
  return maskSecrets(WITHOUT_VALUES.exec(line)?.[0] ?? '');
}

/** The stack without the message that it begins with. */
const framesOf = ({ stack = '' }: Error): string =>
  stack
    .split('\n')
    .filter((line) => /^ {4}at .*(?::\d+:\d+|native|<anonymous>)\)?$/.test(line))
    .join('\n');

/** A text without words that look like an address or a secret. */
export const maskSecrets = (text: string): string =>
  text.replace(/\S*@\S*/g, '<address>').replace(/[\w-]{32,}/g, '<secret>');

/** Where parts of the service report to; pino fits. */
export type Log = Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>;

const REASON_LENGTH_MAX = 300;

/**
 * What went wrong, in one line for logs and job rows. Mail servers quote addresses and links in
 * their answers, so words that look like an address or a secret are left out.
 */
export function errorSummary(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? `${String(error.code)}: ` : '';
  return toSingleLine(code + (error instanceof Error ? error.message : String(error)));
}

/** A text of a library as one line, without the values of rows. */
export const toSingleLine = (text: string): string =>
  // Of a refused row the database shows everything, on the lines after the first.
  maskSecrets(text.replace(/\s+- detail: .*$/s, '').replace(/\s+/g, ' ')).slice(0, REASON_LENGTH_MAX);
