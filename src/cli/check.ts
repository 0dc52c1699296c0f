import { errorSummary } from './failure.ts';

/** The result of one check of `doctor`. */
export type Check = { readonly name: string; readonly ok: boolean; readonly detail: string };

export const passed = (name: string, detail: string): Check => ({ name, ok: true, detail });
export const failed = (name: string, detail: string): Check => ({ name, ok: false, detail });

/** Runs one check. Its result is the detail if it passes; its error is the detail if it fails. */
export async function runCheck(name: string, examineOne: () => string | Promise<string>): Promise<Check> {
  try {
    return passed(name, await examineOne());
  } catch (error) {
    return failed(name, errorSummary(error));
  }
}
