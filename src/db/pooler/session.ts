import type pg from 'pg';
import { isSet, type SessionSettings } from './transaction.ts';

/**
 * Adds to a client what a pooler in session mode needs: no startup parameters beyond the login. The settings are sent
 * after it, and the pooler resets them when the client disconnects.
 */
export function withSessionPooling(Base: typeof pg.Client, values: SessionSettings): typeof pg.Client {
  const settings = Object.entries(values)
    .filter(isSet)
    .map(([name, value]) => `set ${name} = ${value}`)
    .join('; ');
  if (settings === '') return Base;

  return class extends Base {
    override connect(): Promise<this>;
    override connect(callback: (error: Error | null) => void): void;
    override connect(callback?: (error: Error | null) => void): Promise<this> | void {
      if (callback === undefined) return this.#connectWithSettings();
      this.#connectWithSettings().then(
        () => process.nextTick(callback, null),
        (error: unknown) => process.nextTick(callback, error),
      );
    }

    async #connectWithSettings(): Promise<this> {
      await super.connect();
      await super.query(settings);
      return this;
    }
  } as typeof pg.Client;
}
