import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const OPTIONS = JSON.stringify({ rules: { 'target-size': { enabled: true } }, resultTypes: ['violations'] });

/**
 * Returns what axe finds wrong in the page, or in a part of it, with the elements. Runs axe in the page itself: its own driver opens another
 * page for each run, which takes several times as long as the rules. No page has frames.
 */
export async function findViolations(page: Page, part?: string): Promise<string[]> {
  await page.evaluate(`globalThis.axe === undefined && (() => {${axe.source}})()`);
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(part ?? 'html')}, ${OPTIONS})`)) as AxeResults;
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
