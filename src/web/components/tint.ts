/** Number of colors in palette.css. */
const TINTS = 8;

/** Returns the number of the color of a team or person. The same text, such as an id, always has the same color. */
export function getTint(text: string): number {
  let hash = 0x81_1c_9d_c5; // FNV-1a
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01_00_01_93);
  return (hash >>> 0) % TINTS;
}
