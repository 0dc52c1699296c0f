import { pino, type DestinationStream, type Logger } from 'pino';

/** Opens the log: one JSON object per line. Errors are logged without values from users or rows. */
export const openLog = (level: string, destination: DestinationStream): Logger =>
  pino({ level, serializers: { err: describeError } }, destination);

type Described = { type: string; message: string; stack: string; cause?: Described } & Record<string, unknown>;

/** Members of errors of PostgreSQL and Redis that contain neither row values nor command arguments. */
const FACTS = ['code', 'errno', 'syscall', 'schema', 'table', 'column', 'constraint', 'routine'] as const;

const CAUSES_MAX = 3;

function describeError(error: unknown, depth = 0): Described {
  if (!(error instanceof Error)) return { type: typeof error, message: '', stack: '' };
  const members = new Map(Object.entries(error));
  return {
    type: error.constructor.name,
    message: toSafeMessage(error),
    stack: toFrames(error),
    ...Object.fromEntries(FACTS.filter((fact) => members.has(fact)).map((fact) => [fact, members.get(fact)])),
    ...(error.cause instanceof Error && depth < CAUSES_MAX && { cause: describeError(error.cause, depth + 1) }),
  };
}

/** The part of a line before its first quotation, except names in the database schema. */
const WITHOUT_VALUES =
  /^(?:[^"]|(?<=\b(?:relation|table|column|constraint|index|type|schema|function|role|user|database) )"[\w.]+")*/;

/**
 * Returns the message of an error without values. PostgreSQL quotes values in the first line and whole rows in the
 * following ones, and parsers quote their input.
 */
function toSafeMessage({ message }: Error): string {
  const [line = ''] = message.split('\n', 1);
  return maskSecrets(WITHOUT_VALUES.exec(line)?.[0] ?? '');
}

/** Returns the stack without the message that it starts with. */
const toFrames = ({ stack = '' }: Error): string =>
  stack
    .split('\n')
    .filter((line) => /^ {4}at .*(?::\d+:\d+|native|<anonymous>)\)?$/.test(line))
    .join('\n');

/** Masks words that look like an email address or a secret. */
export const maskSecrets = (text: string): string =>
  text.replace(/\S*@\S*/g, '<address>').replace(/[\w-]{32,}/g, '<secret>');

/** The log that parts of the service write to. A pino logger has this type. */
export type Log = Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>;

const REASON_LENGTH_MAX = 300;

/**
 * Returns an error in one line, for logs and job rows. Mail servers quote email addresses and links in their
 * replies, so words that look like an email address or a secret are masked.
 */
export function errorSummary(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? `${String(error.code)}: ` : '';
  return toSingleLine(code + (error instanceof Error ? error.message : String(error)));
}

/** Returns a library's message as one line, without row values. */
export const toSingleLine = (text: string): string =>
  // For a rejected row PostgreSQL appends all its values as detail.
  maskSecrets(text.replace(/\s+- detail: .*$/s, '').replace(/\s+/g, ' ')).slice(0, REASON_LENGTH_MAX);
