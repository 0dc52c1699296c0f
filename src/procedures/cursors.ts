import { z } from 'zod';
import { callerOf } from '../auth/authenticate.ts';
import type { Services } from '../service/services.ts';
import { invalidInput, type ProblemError } from '../problems/error.ts';
import type { Context } from './context.ts';
import { text } from './fields.ts';

const PURPOSE = 'list-cursor';

/** A cursor in an input. */
export const cursor = text(1, 8192);

/** Where the next page begins: after the last row, in the order of the list. A row without a value has null. */
export type Position = { readonly sort: string | null; readonly id: string };

/** What a cursor is of: the name of the list, then its order and filters. */
export type List = readonly [name: string, ...of: readonly unknown[]];

/**
 * The cursors of a credential. They are encrypted, because positions can contain email addresses and names, and cursors
 * get into URLs and logs.
 */
export type Cursors = {
  /** @throws validation_failed (400) for a cursor of another list, order, filter or credential */
  read(list: List, cursor: string | undefined): Position | undefined;
  write(list: List, position: Position): string;
};

export const createCursors = ({ encryption }: Pick<Services, 'encryption'>, credentialId: string): Cursors => {
  const contextOf = (list: List) => JSON.stringify([credentialId, ...list]);
  return {
    read(list, given) {
      if (given === undefined) return undefined;
      const { data } = position.safeParse(parse(encryption.decryptFor(PURPOSE, contextOf(list), given)));
      if (data === undefined) throw invalidCursor();
      const [sort, id] = data;
      return { sort, id };
    },
    write: (list, { sort, id }) => encryption.encryptFor(PURPOSE, contextOf(list), JSON.stringify([sort, id])),
  };
};

/** Returns the cursors of the credential of a call. */
export const cursorsOf = ({ services, authentication }: Pick<Context, 'services' | 'authentication'>): Cursors =>
  createCursors(services, callerOf(authentication)?.credentialId ?? '');

export const invalidCursor = (): ProblemError =>
  invalidInput('/cursor', 'The cursor is not of this list.', 'invalid_format');

const position = z.tuple([z.string().nullable(), z.string()]);

function parse(json: string | undefined): unknown {
  try {
    return JSON.parse(json ?? 'null');
  } catch {
    return null;
  }
}
