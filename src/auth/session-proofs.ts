import type { ProofMethod, Proofs } from '../entities/index.ts';

/**
 * SQL that returns what a session proves. A session that a process of the previous version created proves how its account
 * signed in, when it was created.
 */
export const proofsOf = (alias: string): string =>
  `coalesce(${alias}.proofs, case when ${alias}.authentication_type is null then '{}'::jsonb else jsonb_build_object(
     case when ${alias}.authentication_type in ('email_link', 'invitation') then 'link' else ${alias}.authentication_type end,
     ${alias}.created_at) end)`;

/** SQL that returns the time of the last proof of a session. */
export const lastProofOf = (alias: string): string =>
  `greatest(${alias}.proven_at, (select max(proof.value::timestamptz) from jsonb_each_text(${alias}.proofs) proof))`;

/** SQL for the present time in milliseconds, which the column of the last proof has too. */
export const PROOF_TIME = `date_trunc('milliseconds', now())`;

/** SQL that adds a proof of now by a method to those of a session. A method that is there gets the new time. */
export const withProofNow = (alias: string, method: string): string =>
  `${proofsOf(alias)} || jsonb_build_object(${method}::text, ${PROOF_TIME})`;

/** A method that a session knows, and when it was last proved. */
export type ProvenMethod = { readonly method: string; readonly at: string };

/** Lists what a session proves, the latest proof first. The method can be one of a later version. */
export const listProofs = (proofs: Readonly<Record<string, string>>): ProvenMethod[] =>
  Object.entries(proofs)
    .map(([method, at]) => ({ method, at: new Date(at).toISOString() }))
    .toSorted((one, other) => other.at.localeCompare(one.at) || one.method.localeCompare(other.method));

/** Returns proofs by all methods at one time. */
export const proveAll = (methods: readonly ProofMethod[], at: Date): Proofs =>
  Object.fromEntries(methods.map((method) => [method, at.toISOString()]));
