/** The time that pictures are taken at, later than any real clock, so that jobs of the queue are due. */
export const NOW = new Date('2030-05-15T12:00:00Z');

let state = 0;
let ids = 0;

/** Starts the sequence of a name, so that the same picture gets the same ids and secrets in every run. */
export function startSequence(name: string): void {
  ids = 0;
  state = Buffer.from(name).reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5);
}

/** Returns the next number below a bound (mulberry32). */
export function nextNumber(bound: number): number {
  state = (state + 0x6d2b79f5) | 0;
  const mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  const more = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((more ^ (more >>> 14)) >>> 0) % bound;
}

export const nextBytes = (length: number): Buffer => Buffer.from(Array.from({ length }, () => nextNumber(256)));

export const nextString = (alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[nextNumber(alphabet.length)]).join('');

/** Returns an id like those of `newId`, in the order of the calls. */
export function nextId(kind: string): string {
  const bytes = nextBytes(16);
  bytes.writeUIntBE(NOW.getTime(), 0, 6);
  bytes.writeUInt16BE(0x7000 | (ids += 1), 6);
  return `${kind}_${BigInt(`0x${bytes.toString('hex')}`)
    .toString(32)
    .padStart(26, '0')}`;
}

export function nextUuid(): ReturnType<typeof crypto.randomUUID> {
  const hex = nextBytes(16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}
