/**
 * Compares two samples by the ranks of their values (Mann and Whitney), whatever their distribution is. @returns by how
 * many standard deviations those of the first are higher than if both were of one distribution
 */
export function rankDifference(first: readonly number[], second: readonly number[]): number {
  const [n, m] = [first.length, second.length];
  let wins = 0;
  for (const one of first) for (const other of second) wins += one > other ? 1 : one === other ? 0.5 : 0;
  return (wins - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12);
}
