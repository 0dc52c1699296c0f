/** How long an authorization request waits for its answer. */
export const REQUEST_MINUTES = 15;

/** How long a request waits whose user was sent a link by email: as long as the longest of these links is valid. */
export const LINKED_REQUEST_HOURS = 24;
