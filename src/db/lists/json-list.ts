import { randomUUID } from 'node:crypto';

/** How many items of a long list are one row, so that no message has to hold all of it. */
export const PART_ITEMS = 400;

// Random, so that no data can contain it.
const PLACEHOLDER = randomUUID();
let made = 0;

/** A list as JSON, which PostgreSQL made. In the JSON of anything that contains it, it is a placeholder. */
export class JsonList<Item = unknown> {
  readonly #parts: readonly (string | Buffer)[];
  readonly #placeholder = `${PLACEHOLDER}-${(made += 1)}`;
  #length: number | undefined;

  /** @param parts the items as JSON, with commas between: `PART_ITEMS` in each part but the last one */
  private constructor(parts: readonly (string | Buffer)[], length?: number) {
    this.#parts = parts;
    this.#length = length;
  }

  static ofShort<Item>(items: string): JsonList<Item> {
    return new JsonList([items]);
  }

  /** Of a list that was read in parts, as bytes, which the garbage collector does not copy. */
  static ofLong<Item>(parts: readonly { readonly items: string; readonly length: number }[]): JsonList<Item> {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    return new JsonList(
      parts.map(({ items }) => Buffer.from(items)),
      length,
    );
  }

  /** How many items the list has. */
  get length(): number {
    return (this.#length ??= this.items().length);
  }

  get isLong(): boolean {
    return this.#parts.some((part) => typeof part !== 'string');
  }

  get byteLength(): number {
    return this.#parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  }

  items(): Item[] {
    return parse(this.#parts) as Item[]; // as the list declares
  }

  /** Returns a few of the items, as `slice` of arrays does. Parses the parts that contain them. */
  slice(start: number, end: number): Item[] {
    const first = Math.floor(start / PART_ITEMS);
    const items = parse(this.#parts.slice(first, Math.ceil(end / PART_ITEMS))) as Item[]; // as the list declares
    return items.slice(start - first * PART_ITEMS, end - first * PART_ITEMS);
  }

  /** The JSON of the list: a long one in pieces. */
  get json(): string | Buffer[] {
    if (!this.isLong) return `[${this.#parts.join()}]`;
    const pieces = this.#parts.flatMap((part, index) => [
      Buffer.from(index === 0 ? '[' : ','),
      typeof part === 'string' ? Buffer.from(part) : part,
    ]);
    return [...pieces, Buffer.from(']')];
  }

  toJSON(): string {
    return this.#placeholder;
  }

  /** Returns JSON with each list in the place of its placeholder. */
  static insert(json: string, lists: readonly JsonList[]): Buffer[] {
    const pieces: Buffer[] = [];
    let end = 0;
    for (const one of lists) {
      const quoted = JSON.stringify(one);
      const start = json.indexOf(quoted, end);
      if (start === -1) continue;
      const { json: text } = one;
      pieces.push(Buffer.from(json.slice(end, start)), ...(typeof text === 'string' ? [Buffer.from(text)] : text));
      end = start + quoted.length;
    }
    pieces.push(Buffer.from(json.slice(end)));
    return pieces;
  }
}

const parse = (parts: readonly (string | Buffer)[]): unknown => JSON.parse(`[${parts.join(',')}]`);
