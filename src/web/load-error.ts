/** Whether a file of the console could not be loaded. Browsers word the error differently. */
export const isLoadError = (error: unknown): boolean =>
  error instanceof Error &&
  /dynamically imported module|importing a module script|^unable to preload/i.test(error.message);
