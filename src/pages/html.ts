import { neutralize } from '../messages/neutralize.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML, between tags and in quoted attributes. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

/** Renders a text that a user or another service chose: it cannot reorder, hide or break the text around it. */
export const isolateHtml = (text: string): string => `<bdi>${escapeHtml(neutralize(text))}</bdi>`;
