/** Returns the distinct emails in a text, separated by lines or commas. Accepts `Ada <ada@example.com>`. */
export function parseAddresses(text: string): string[] {
  const found = new Map<string, string>();
  for (const part of text.split(/[\n,;]/)) {
    const address = (/<([^<>]*)>\s*$/.exec(part)?.[1] ?? part).trim();
    if (address !== '' && !found.has(address.toLowerCase())) found.set(address.toLowerCase(), address);
  }
  return [...found.values()];
}
