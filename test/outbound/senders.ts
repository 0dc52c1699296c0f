import { fetchPicture } from '../../src/picture-conversion/fetch-picture.ts';
import { fetchClientDocument } from '../../src/oauth/client-documents.ts';
import { PUBLIC_NETWORK, type Network } from '../../src/outbound/network.ts';
import { postLogout } from '../../src/resources/openid/send-logout.ts';
import { postWebhook } from '../../src/webhooks/post.ts';

export type Sender = {
  readonly name: string;
  /** The file that sends the request, in `src`. */
  readonly file: string;
  readonly send: (url: string, network?: Network, signal?: AbortSignal) => Promise<unknown>;
};

/** Everything that sends a request to a URL that a user chose. */
export const SENDERS: readonly Sender[] = [
  {
    name: 'a client document',
    file: 'oauth/client-documents.ts',
    send: (url, network, signal) => fetchClientDocument(url, { ...(signal && { signal }) }, network),
  },
  {
    name: 'a webhook',
    file: 'webhooks/post.ts',
    send: (url, network = PUBLIC_NETWORK, signal) => postWebhook(url, {}, '{}', network, signal),
  },
  {
    name: 'a logout token',
    file: 'resources/openid/send-logout.ts',
    send: (url, network = PUBLIC_NETWORK, signal) => postLogout(url, 'a token', network, signal),
  },
  {
    name: 'a picture',
    file: 'picture-conversion/fetch-picture.ts',
    // The reason, which users do not see.
    send: (url, network, signal = new AbortController().signal) =>
      fetchPicture(url, signal, network).catch((error: Error) => {
        throw error.cause ?? error;
      }),
  },
];
