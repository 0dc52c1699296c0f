import { IntlMessageFormat } from 'intl-messageformat';
import ar from './email.ar.json' with { type: 'json' };
import de from './email.de.json' with { type: 'json' };
import en from './email.en.json' with { type: 'json' };
import es from './email.es.json' with { type: 'json' };
import fr from './email.fr.json' with { type: 'json' };
import ja from './email.ja.json' with { type: 'json' };
import ptBR from './email.pt-BR.json' with { type: 'json' };
import { describeLanguage, type Language } from './languages.ts';

export type EmailMessage = keyof typeof en;

const TEXTS: Readonly<Record<Language, Readonly<Record<EmailMessage, string>>>> = {
  en,
  de,
  fr,
  es,
  'pt-BR': ptBR,
  ja,
  ar,
};

/** The messages of emails in one language. */
export type EmailMessages = {
  readonly language: Language;
  /** Formats a message (ICU). @throws if a value is missing */
  readonly format: (message: EmailMessage, values?: Readonly<Record<string, string | number>>) => string;
  /** Formats a date and time in UTC, and names the time zone. */
  readonly formatInstant: (instant: Date) => string;
  /** Returns the name of a country by its ISO 3166 code. Other values are returned as they are. */
  readonly nameCountry: (code: string) => string;
};

const cache = new Map<Language, EmailMessages>();

/** Returns the messages of emails in a language. Each is parsed at its first use. */
export function getEmailMessages(language: Language): EmailMessages {
  const known = cache.get(language);
  if (known !== undefined) return known;
  const created = createEmailMessages(language);
  cache.set(language, created);
  return created;
}

function createEmailMessages(language: Language): EmailMessages {
  const texts = TEXTS[language];
  const parsed = new Map<EmailMessage, IntlMessageFormat>();
  const dates = new Intl.DateTimeFormat(describeLanguage(language).dates ?? language, {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  });
  const countries = new Intl.DisplayNames(language, { type: 'region' });

  return {
    language,
    format: (message, values) => {
      let format = parsed.get(message);
      if (format === undefined) {
        // Without tags, `<` in a message is text.
        format = new IntlMessageFormat(texts[message], language, undefined, { ignoreTag: true });
        parsed.set(message, format);
      }
      return String(format.format({ ...values }));
    },
    formatInstant: (instant) => dates.format(instant),
    nameCountry: (code) => (/^[A-Z]{2}$/.test(code) ? (countries.of(code) ?? code) : code),
  };
}
