import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Sums layout shifts up from the first paint on. */
const OBSERVE = `
  window.layoutShift = 0;
  window.shifted = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.hadRecentInput) continue;
      window.layoutShift += entry.value;
      window.shifted.push(...entry.sources.map(({ node }) => node?.outerHTML?.slice(0, 100) ?? String(node?.nodeName)));
    }
  }).observe({ type: 'layout-shift', buffered: true });`;

/** Measures the layout shift of the pages that are opened from now on. */
export const observeLayoutShift = (page: Page) => page.addInitScript(OBSERVE);

/** Expects that a page moved no more than this since it was opened (CLS of Web Vitals). */
export async function expectStable(page: Page, name: string, max = 0): Promise<void> {
  const shifted = String(await page.evaluate('window.shifted.join("\\n")'));
  expect.soft(await page.evaluate('window.layoutShift'), `${name} moves ${shifted}`).toBeLessThanOrEqual(max);
}
