import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { openLog } from '../../src/telemetry/log.ts';

/** What the log says of an error. */
function told(error: unknown): { text: string; err: Record<string, unknown> } {
  let text = '';
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  openLog('info', destination).error({ err: error }, 'failed');
  return { text, err: (JSON.parse(text) as { err: Record<string, unknown> }).err };
}

describe('an error in the log', () => {
  test('shows where and what it was, and no row of the database', () => {
    const refused = Object.assign(
      new Error(
        'new row for relation "account" violates check constraint "never"\n - detail: Failing row contains (a@b.c, $argon2id$v=19).',
      ),
      { code: '23514', table: 'account', constraint: 'never', detail: 'Failing row contains (a@b.c, $argon2id$v=19).' },
    );

    const { err, text } = told(new Error('The write failed', { cause: refused }));

    expect(err).toMatchObject({
      type: 'Error',
      message: 'The write failed',
      cause: {
        message: 'new row for relation "account" violates check constraint "never"',
        code: '23514',
        table: 'account',
        constraint: 'never',
      },
    });
    expect(err['stack']).toMatch(/^ {4}at .*log\.test\.ts:\d+/);
    expect(text).not.toMatch(/argon2id|a@b\.c/);
  });

  test.for([
    ['invalid input syntax for type uuid: "wandering heron"', 'invalid input syntax for type uuid: '],
    ['Unexpected token \'w\', ..."ssword": wander"... is not valid JSON', "Unexpected token 'w', ..."],
    ['column "name" of relation "team" does not exist', 'column "name" of relation "team" does not exist'],
    ['No mail to ada@example.com', 'No mail to <address>'],
    [`The key ${'x'.repeat(49)} is gone`, 'The key <secret> is gone'],
  ])('%s', ([message = '', expected], { expect: expectHere }) => {
    expectHere(told(new Error(message)).err['message']).toBe(expected);
  });

  test('shows no words of a command', () => {
    const refused = Object.assign(new Error('NOAUTH'), { command: { name: 'auth', args: ['wandering heron'] } });

    expect(told(refused).text).not.toContain('heron');
  });
});
