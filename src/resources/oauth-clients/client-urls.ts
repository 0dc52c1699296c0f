import type { Config } from '../../config/config.ts';
import type { OAuthClient } from '../../entities/index.ts';
import { invalidInput, ProblemError } from '../../problems/error.ts';
import type { OperatorFields } from './oauth-clients.schema.ts';
import { allowsLoopback, findRedirectUriFault, type RedirectRules } from './redirect-uri.ts';

type Kind = Pick<OAuthClient, 'isNative' | 'isDevelopment'>;

export const toRules = (config: Config, { isNative, isDevelopment }: Kind): RedirectRules => ({
  isNative,
  allowsLoopback: allowsLoopback(config, { isDevelopment }),
  redirectSchemes: config.oauth.redirectSchemes,
});

/** Requires that the pages of an application are valid as its redirect URIs are. */
export function requireAppUrls(
  config: Config,
  { isDevelopment }: Pick<OAuthClient, 'isDevelopment'>,
  urls: Pick<OperatorFields, 'homeUrl' | 'initiateLoginUri'>,
): void {
  const rules = toRules(config, { isNative: false, isDevelopment });
  for (const [name, url] of Object.entries(urls)) {
    const fault = typeof url === 'string' ? findRedirectUriFault(url, rules) : undefined;
    if (fault !== undefined) throw invalidInput(`/${name}`, `The URL ${fault.detail}`, fault.code);
  }
}

/** Requires redirect URIs that a client of this kind can have, each once. @throws validation_failed with all faults */
export function requireRedirectUris(uris: readonly string[], rules: RedirectRules): void {
  const details: string[] = [];
  const errors = uris.flatMap((uri, i) => {
    const found = uris.indexOf(uri) < i ? REPEATED : findRedirectUriFault(uri, rules);
    if (found === undefined) return [];
    const { detail, ...fault } = found;
    details.push(`The redirect URI ${uri.slice(0, 200)} ${detail}`);
    return [{ in: 'body' as const, pointer: `/redirectUris/${i}`, ...fault }];
  });
  if (errors.length > 0) throw new ProblemError('validation_failed', details[0], { errors });
}

const REPEATED = { code: 'invalid_value' as const, detail: 'is listed twice.' };
