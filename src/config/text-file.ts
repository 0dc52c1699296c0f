import { readFileSync } from 'node:fs';

/** Decodes UTF-8. A byte order mark at the beginning, which editors on Windows write, is skipped. */
export const decodeText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Reads a file of settings. */
export const readTextFile = (path: string): string => decodeText(readFileSync(path));
