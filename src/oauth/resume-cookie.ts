import Provider from 'oidc-provider';

/** The cookie that continues an authorization request. Its name ends with the port of BASE_URL, if it has one. */
export const RESUME_COOKIE = 'roster_resume';

/** Lets browsers continue the requests that they began when the name had no port. */
export function readFormerResumeCookie(provider: Provider): void {
  provider.cookieName = (type) => {
    const name = Provider.prototype.cookieName.call(provider, type);
    const ctx = Provider.ctx;
    // The signature of a cookie, which oidc-provider checks, includes its name.
    const isFormer =
      type === 'resume' && ctx?.oidc.route === 'resume' && ctx.cookies.get(name, { signed: false }) === undefined;
    return isFormer ? RESUME_COOKIE : name;
  };
}
