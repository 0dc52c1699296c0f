/** Returns whether an SQLSTATE reports corrupted or missing files of the server. */
export const isDamage = (code: string): boolean => /^(XX00[12]|58P0[12]|58030)$/.test(code);
