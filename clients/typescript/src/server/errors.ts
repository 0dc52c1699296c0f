/** Why a request is not let in, and the response that says so. */
export class RosterAccessError extends Error {
  override name = 'RosterAccessError';
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
    this.code = code;
  }

  /** A JSON response with `error` and `message`. */
  toResponse(): Response {
    const headers = { 'cache-control': 'no-store', ...(this.status === 503 && { 'retry-after': '5' }) };
    return Response.json({ error: this.code, message: this.message }, { status: this.status, headers });
  }
}

export const signInRequired = () => new RosterAccessError(401, 'sign_in_required', 'Sign in first.');

/** Roster did not answer. Users stay signed in, and nobody is let in without an answer that is needed. */
export const unavailable = (cause: unknown) =>
  new RosterAccessError(503, 'roster_unavailable', 'Roster does not answer. Try again in a moment.', { cause });
