import { randomUUID } from 'node:crypto';
import { LongList } from '../db/long-lists/long-list.ts';
import { forEachPart, PART_ITEMS } from '../db/long-lists/parts.ts';

// Random, so that no data can contain it.
const PLACEHOLDER = randomUUID();
let made = 0;

/** The JSON of a long list, made in parts. In the JSON of anything that contains it, it is a placeholder. */
export class JsonText {
  readonly parts: readonly Buffer[];
  /** How many items the list has. */
  readonly length: number;
  readonly #placeholder = `${PLACEHOLDER}-${(made += 1)}`;

  private constructor(parts: readonly Buffer[], length: number) {
    this.parts = parts;
    this.length = length;
  }

  /** @param present returns the items of a part as they are sent */
  static async fromList(
    list: readonly unknown[] | LongList<unknown>,
    present: (part: readonly unknown[]) => Promise<readonly unknown[]>,
  ): Promise<JsonText> {
    const parts: Buffer[] = [];
    let length = 0;
    const add = async (part: readonly unknown[]) => {
      const text = JSON.stringify(await present(part)).slice(1, -1);
      parts.push(Buffer.from(parts.length === 0 ? `[${text}` : `,${text}`));
      length += part.length;
    };
    await (list instanceof LongList ? list.forEachPart(add) : forEachPart(list, add));
    parts.push(Buffer.from(length === 0 ? '[]' : ']'));
    return new JsonText(parts, length);
  }

  get byteLength(): number {
    return this.parts.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** Returns a few of the items, as `slice` of arrays does. Parses the parts that contain them. */
  slice(start: number, end: number): unknown[] {
    const first = Math.floor(start / PART_ITEMS);
    const parts = this.parts.slice(first, Math.ceil(Math.min(end, this.length) / PART_ITEMS));
    if (parts.length === 0) return [];
    const items = JSON.parse(`[${Buffer.concat(parts).toString().slice(1)}]`) as unknown[]; // the items of a list
    return items.slice(start - first * PART_ITEMS, end - first * PART_ITEMS);
  }

  toJSON(): string {
    return this.#placeholder;
  }

  /** Returns JSON with each text in the place of its placeholder. */
  static insert(json: string, texts: readonly JsonText[]): Buffer[] {
    const pieces: Buffer[] = [];
    let end = 0;
    for (const text of texts) {
      const quoted = JSON.stringify(text);
      const start = json.indexOf(quoted, end);
      if (start === -1) continue;
      pieces.push(Buffer.from(json.slice(end, start)), ...text.parts);
      end = start + quoted.length;
    }
    pieces.push(Buffer.from(json.slice(end)));
    return pieces;
  }
}
