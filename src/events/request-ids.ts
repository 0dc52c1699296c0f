/** The ids of a request. */
export type RequestIds = {
  /** The service's own, which no other request has. */
  readonly requestId: string;
  /** The `X-Request-Id` that the client sent, which other requests can have too; null without a valid one. */
  readonly clientRequestId: string | null;
};

/** Returns the id that the response shows. By contract it is the client's, if it sent one. */
export const shownRequestId = ({ requestId, clientRequestId }: RequestIds): string => clientRequestId ?? requestId;
