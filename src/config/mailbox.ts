import { domainToASCII } from 'node:url';
import addressparser from 'nodemailer/lib/addressparser';
import { readBy } from './values.ts';

/** A name, which can be empty, and an address, whose domain is in ASCII (RFC 5322, section 3.4; RFC 5890). */
export type Mailbox = { readonly name: string; readonly address: string };

const EXPECTED = 'must be one mailbox, such as Acme Teams <teams@acme.example>';

/** The mailbox of a sender. */
export const mailbox = () =>
  readBy((text): Mailbox => {
    const [found, ...others] = addressparser(text);
    if (found === undefined || others.length > 0 || !('address' in found)) throw new Error(EXPECTED);
    const [, local = '', domain = ''] = /^([\w.!#$%&'*+/=?^`{|}~-]+)@([^@]+)$/.exec(found.address ?? '') ?? [];
    const ascii = domainToASCII(domain);
    // The parser also reads what is close to a mailbox.
    const rest = text.trim();
    const isExact = rest === found.address || (rest.endsWith(`<${found.address}>`) && !/[<>]/.test(found.name));
    // Quotation marks around everything are of the file that the setting comes from.
    if (!isExact || local === '' || !/^[a-z0-9.-]+$/.test(ascii) || /^(['"]).*\1$|\p{Cc}/su.test(text))
      throw new Error(EXPECTED);
    return { name: found.name, address: `${local}@${ascii}` };
  });
