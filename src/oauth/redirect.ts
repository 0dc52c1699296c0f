import type { KoaContextWithOIDC } from 'oidc-provider';

/**
 * Replaces the URL that oidc-provider redirects to by the client's redirect URI as it was registered, with the
 * parameters of the answer behind it. oidc-provider parses and writes the URI, which changes the bytes of its query.
 */
export function redirectAsRegistered(ctx: KoaContextWithOIDC): void {
  const uri = ctx.oidc?.params?.['redirect_uri'];
  const location = ctx.response.get('Location');
  if (typeof uri !== 'string' || location === '' || !isSameTarget(location, uri)) return;
  const answer = new URL(location).searchParams;
  for (const [name, value] of new URL(uri).searchParams) answer.delete(name, value);
  ctx.set('Location', `${uri}${getSeparator(uri)}${answer.toString()}`);
  // The body contains the URL as a link.
  ctx.body = '';
}

function isSameTarget(location: string, uri: string): boolean {
  const [one, other] = [URL.parse(location), URL.parse(uri)];
  return one !== null && other !== null && removeQuery(one) === removeQuery(other);
}

const removeQuery = ({ protocol, host, pathname }: URL): string => `${protocol}//${host}${pathname}`;

const getSeparator = (uri: string): string => (uri.includes('?') ? (/[?&]$/.test(uri) ? '' : '&') : '?');
