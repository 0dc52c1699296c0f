type AskForProof = () => Promise<boolean>;

let ask: AskForProof = () => Promise.resolve(false);
let pending: Promise<boolean> | undefined;

/** Sets how the console asks the user to confirm who they are. The result is whether they did. */
export function setProofPrompt(prompt: AskForProof): void {
  ask = prompt;
}

/** Asks once for all calls that need a proof at the same time. */
export const askForProof: AskForProof = () => {
  pending ??= ask().finally(() => (pending = undefined));
  return pending;
};
