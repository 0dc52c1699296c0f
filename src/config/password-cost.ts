/** The costs of Argon2id that an operator can set. Hashes beyond them are not of this service. */
export const PASSWORD_COST = {
  memoryKib: { min: 19_456, max: 1_048_576 },
  passes: { min: 2, max: 100 },
} as const;
