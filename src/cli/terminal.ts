import type { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';

/** What a command reads and writes: that of its process, or of a test that calls it. */
export type Terminal = {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable & { readonly isTTY?: boolean };
};

const terminals = new WeakMap<Command, Terminal>();

export const useTerminal = (roster: Command, terminal: Terminal): void => void terminals.set(roster, terminal);

/** Returns the terminal of a command, or of the one that it belongs to. */
export const terminalOf = (command: Command): Terminal =>
  terminals.get(command) ?? (command.parent === null ? process : terminalOf(command.parent));
