import { LongList, type Listed } from '../db/long-lists/long-list.ts';
import { isLong } from '../db/long-lists/parts.ts';
import { JsonText } from './json-text.ts';
import { dataOf, type Middleware } from './middlewares.ts';

const isLongList = (data: unknown): data is readonly unknown[] | LongList<unknown> =>
  data instanceof LongList || (Array.isArray(data) && isLong(data));

/** Returns a list from a resolver, whose declared type is that of the list: a procedure presents a long one in parts. */
export const present = async <Item>(list: Promise<Listed<Item>>): Promise<Item[]> => (await list) as Item[]; // or a LongList

/**
 * Presents long lists as text that is validated and made in parts, because a list of thousands takes so long that all
 * other requests would notice. Schemas of lists constrain the items only.
 * @param validate tRPC's middleware that validates the output
 */
export const presentInParts =
  <Context>(validate: Middleware<Context>): Middleware<Context> =>
  async (options) => {
    const result = await options.next();
    if (!result.ok || !isLongList(result.data)) return validate({ ...options, next: () => Promise.resolve(result) });
    const presentPart = async (part: readonly unknown[]) => {
      const next = () => Promise.resolve({ ...result, data: part });
      return dataOf(await validate({ ...options, next })) as readonly unknown[]; // a list stays one
    };
    return { ...result, data: await JsonText.fromList(result.data, presentPart) };
  };
