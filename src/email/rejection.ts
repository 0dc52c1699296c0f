/** An email that no mail server could deliver, such as one to an invalid address. */
export class UndeliverableError extends Error {}

/** SMTP response codes that concern the login, although the server sends them in response to a recipient. */
const LOGIN_CODES = new Set([503, 530, 534, 535, 538]);

type SmtpError = { code?: string; command?: string; responseCode?: number };

/**
 * Returns whether the mail server permanently rejected this email: a 5xx response to its recipient or content
 * (RFC 5321 §4.2.1). A 5xx answer to the connection, the login or the sender concerns the configuration,
 * which the operator can correct, so these are retried.
 */
export function isRejection(error: unknown): boolean {
  if (error instanceof UndeliverableError) return true;
  const { code, command, responseCode = 0 } = (error ?? {}) as SmtpError; // nodemailer's errors have these
  if (code !== 'EENVELOPE' && code !== 'EMESSAGE') return false;
  if (command === 'API') return true; // It is invalid before it is sent.
  return (command === 'RCPT TO' || command === 'DATA') && responseCode >= 500 && !LOGIN_CODES.has(responseCode);
}
