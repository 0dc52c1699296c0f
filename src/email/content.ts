import type { Color } from '../color.ts';
import type { EmailMessages } from '../messages/email-messages.ts';

/** The name and color of this instance. */
export type Brand = { readonly name: string; readonly color: Color };

/** What all emails of one language have in common. `baseUrl` has no trailing slash. */
export type EmailContext = {
  readonly messages: EmailMessages;
  readonly brand: Brand;
  readonly baseUrl: string;
};

export type Block = string | { readonly list: readonly string[] };

export type Content = {
  /** Defaults to the title. */
  readonly subject?: string;
  readonly title: string;
  /** The paragraphs and lists before the link. */
  readonly before: readonly Block[];
  readonly link?: { readonly url: string; readonly label: string; readonly expiresAt?: Date };
  /** The paragraphs after the link. */
  readonly after: readonly string[];
};
