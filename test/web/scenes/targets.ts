import type { Page } from 'playwright-core';

/**
 * Everything that can be clicked, with the labels that click it, as smaller than 24 by 24 px. As in WCAG 2.2 (2.5.8),
 * links inside of a sentence do not count, nor does what is hidden from sight until it has the focus.
 */
const FIND_SMALL = `(() => {
  const MIN = 24;
  const targets = 'a[href], button, input, select, textarea, summary, [tabindex="0"][role], [role^="menuitem"], [role="option"], [role="switch"], [role="tab"]';
  const isInSentence = (e) => e.matches('a, button') && getComputedStyle(e).display === 'inline' &&
    [...e.parentElement.childNodes].some((node) => node !== e && node.nodeType === 3 && node.data.trim() !== '');
  const isHidden = (e) => !e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) || e.disabled ||
    e.matches('.skip-link, [type="hidden"]') || e.closest('[inert], [aria-hidden="true"]') !== null;
  const boxOf = (e) => {
    const boxes = [e, ...(e.labels ?? [])].map((each) => each.getBoundingClientRect());
    const side = (name, of) => of(...boxes.map((box) => box[name]));
    return [side('right', Math.max) - side('left', Math.min), side('bottom', Math.max) - side('top', Math.min)];
  };
  return [...document.querySelectorAll(targets)]
    .filter((e) => !isHidden(e) && !isInSentence(e) && boxOf(e).some((length) => length < MIN - 0.5))
    .map((e) => boxOf(e).map(Math.round).join(' x ') + ': ' + e.outerHTML.slice(0, 160));
})()`;

/** Returns the targets of the page that are smaller than 24 by 24 px. */
export const findSmallTargets = (page: Page) => page.evaluate(FIND_SMALL) as Promise<string[]>;
