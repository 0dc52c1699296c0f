import { lazyRouteComponent } from '@tanstack/react-router';

/**
 * Loads a page when it is opened. If its file cannot be loaded, which happens after an upgrade of the service, the
 * router reloads once and then shows the error. Offline it shows the error at once: a reload would lose the page.
 */
export const lazyPage: typeof lazyRouteComponent = (load, exportName) =>
  lazyRouteComponent(
    () =>
      load().catch((error: unknown) => {
        throw navigator.onLine ? error : new Error('offline');
      }),
    exportName,
  );
