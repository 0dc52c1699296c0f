import { describeLanguage } from '../messages/languages.ts';
import { chooseLanguage } from './messages/choose-language.ts';
import { watchMissingFiles } from './missing-files.ts';
import { COLOR_SCHEME_KEY, readStored } from './stored.ts';

// Runs before the first paint and before the console is loaded, which keeps these attributes up to date afterwards.
const { documentElement: page } = document;
const scheme = readStored(COLOR_SCHEME_KEY);
const isDark = scheme === 'dark' || (scheme !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
page.setAttribute('data-mantine-color-scheme', isDark ? 'dark' : 'light');

const language = chooseLanguage();
page.lang = language;
page.dir = describeLanguage(language).direction;
watchMissingFiles(language);
/** Pages that do not need the texts of the others. */
const isFirst = /^\/(?:sign-(?:in|up|out)|forgot-password|reset-password|verify-email|email-sign-in)$/.test(
  location.pathname,
);

// Loads the texts while the console loads, which waits for them.
for (const part of isFirst ? ['first'] : ['first', 'pages']) {
  const name = `meta[name="roster-${part}-texts"][data-language="${language}"]`;
  const texts = document.querySelector(name)?.getAttribute('content');
  if (!texts) continue;
  const link = document.createElement('link');
  link.rel = 'modulepreload';
  link.crossOrigin = '';
  link.href = texts;
  document.head.append(link);
}
