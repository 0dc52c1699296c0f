/** How a secret would be found: as it is, as hexadecimal digits, and in base64, also in the midst of other text. */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].flatMap((shift) => {
    const padded = Buffer.concat([Buffer.alloc(shift), bytes]);
    // Digits that other text would have a part in are left out.
    const from = [0, 2, 3][shift];
    const to = Math.floor((padded.length * 8) / 6);
    return [padded.toString('base64').slice(from, to), padded.toString('base64url').slice(from, to)];
  });
  return [secret, bytes.toString('hex'), encodeURIComponent(secret), ...shifted];
}
