/** The identifier of the API as a resource (RFC 8707, RFC 9728). */
export const resourceOf = (baseUrl: string): string => `${baseUrl}/api/v1`;
