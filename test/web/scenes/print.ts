import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** An A4 page without its margins, in CSS pixels. */
const PAPER = { width: 718, height: 1047 };

const VISIBLE = (selector: string) =>
  `[...document.querySelectorAll('${selector}')].filter((e) => e.checkVisibility()).map((e) => e.outerHTML.slice(0, 120))`;

/** Text that is lighter than paper needs: 4.5:1 on white. */
const PALE = `[...document.querySelectorAll('h1, h2, h3, p, td, th, dt, dd, label, li')]
  .filter((e) => e.checkVisibility() && [...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== ''))
  .filter((e) => {
    const [r, g, b, alpha = 1] = (getComputedStyle(e).color.match(/[\\d.]+/g) ?? []).map(Number);
    const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return alpha < 1 || 1.05 / (0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b) + 0.05) < 4.5;
  })
  .map((e) => getComputedStyle(e).color + ': ' + e.outerHTML.slice(0, 120))`;

/** Expects the page on paper to have its content in dark ink on white, no wider than the paper, and nothing to click. */
export async function expectPrintable(page: Page, name: string): Promise<void> {
  await page.setViewportSize(PAPER);
  await page.emulateMedia({ media: 'print', colorScheme: 'dark', forcedColors: 'none' });
  expect(await page.evaluate(VISIBLE('h1, h2')), `${name}, printed: headings`).not.toEqual([]);
  expect(await page.evaluate(VISIBLE('nav, button')), `${name}, printed: navigation and buttons`).toEqual([]);
  expect(await page.evaluate('getComputedStyle(document.body).backgroundColor'), name).toBe('rgb(255, 255, 255)');
  expect(await page.evaluate(PALE), `${name}, printed: pale text`).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'), name).toBeLessThanOrEqual(0);
}
