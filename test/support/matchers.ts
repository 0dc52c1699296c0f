import { expect } from 'vitest';
import { PROBLEMS, type ProblemCode } from '../../src/problems/catalogue.ts';
import type { Answer } from './client.ts';

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> {
    /** The answer is the problem document of this code, with the status the catalogue gives it. */
    toBeProblem(code: ProblemCode): R & (T extends never ? never : unknown);
  }
}

expect.extend({
  toBeProblem(answer: Answer, code: ProblemCode) {
    const [status, title] = PROBLEMS[code];
    const expected = { status, title, code, requestId: answer.headers['x-request-id'] };
    const pass = answer.status === status && this.equals(answer.body, expect.objectContaining(expected));
    return {
      pass,
      message: () => `expected the problem ${code} (${status}), got ${answer.status} ${JSON.stringify(answer.body)}`,
    };
  },
});
