import { hashSecret } from '../../crypto/tokens.ts';

/** The authority to answer a request: the id in the URL, and the cookie of the browser that started the request. */
export type Hold = { readonly id: string; readonly browserToken: string | undefined };

/** Returns the hashes of the request id and the browser token, the first two parameters of `findOpenRequest`. */
export const getHoldValues = ({ id, browserToken }: Hold): [Buffer, Buffer] => [
  hashSecret(id),
  hashSecret(browserToken ?? ''),
];
