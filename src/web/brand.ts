const read = (name: string): string | null =>
  document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? null;

/** What the service wrote into the page (see src/pages/brand.ts). */
export const BRAND = { name: read('application-name') ?? 'Roster', logo: read('roster-logo') };

/** Whether emails are written to files, which `/dev/mail` shows. */
export const IS_DEVELOPMENT = read('roster-development') !== null;
