type AskToSignIn = () => Promise<boolean>;

let ask: AskToSignIn = () => Promise.resolve(false);
let asked: Promise<boolean> | undefined;

/** Sets how the console asks users to sign in again on the page that they are on. The result is whether they did. */
export function setSignInPrompt(prompt: AskToSignIn): void {
  ask = prompt;
}

/** Asks once for all calls that fail at the same time. */
export const askToSignIn: AskToSignIn = () => (asked ??= ask().finally(() => (asked = undefined)));

export const isAskedToSignIn = (): boolean => asked !== undefined;

/** The fields that the user has changed, as far as they are still in the page. */
let changed: readonly Element[] = [];

document.addEventListener('input', ({ target }) => {
  if (!(target instanceof Element) || changed.includes(target)) return;
  changed = [...changed.filter((field) => field.isConnected), target];
});

/** Whether the page contains something that the user has entered or opened, which another page would lose. */
export const hasInput = (): boolean =>
  changed.some((field) => field.isConnected) || document.querySelector('[role="dialog"]') !== null;
