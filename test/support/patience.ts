/** How long a test waits for what must happen: enough for a busy machine, so that only what hangs fails. */
export const PATIENCE_MS = 60_000;
