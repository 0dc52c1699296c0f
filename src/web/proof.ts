type AskForProof = () => Promise<boolean>;

let ask: AskForProof = () => Promise.resolve(false);

/** Sets how the console asks the user to confirm who they are. The result is whether they did. */
export function setProofPrompt(prompt: AskForProof): void {
  ask = prompt;
}

/** Asks for all calls that need a proof at the same time. */
export const askForProof: AskForProof = () => ask();
