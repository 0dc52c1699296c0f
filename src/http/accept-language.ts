import Negotiator from 'negotiator';
import { matchLanguage, type Language } from '../messages/languages.ts';

const HEADER_LENGTH_MAX = 500;

/** Returns the language of messages that a client prefers (RFC 9110 section 12.5.4), or null. */
export function readAcceptLanguage(header: string | undefined): Language | null {
  if (header === undefined) return null;
  const tags = new Negotiator({ headers: { 'accept-language': header.slice(0, HEADER_LENGTH_MAX) } }).languages();
  return matchLanguage(...tags) ?? null;
}
