import type { Outputs, Permission } from './api-types.ts';

/** Who may see a page: a permission is that of the user in the team of the page. */
export type PageAccess = 'anyone' | 'session' | 'operator' | 'member' | Permission;

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** Declared once for each route, for its loader, the links to it, and the layout around it. */
    readonly access: PageAccess;
  }
}

/** What is known of the user. Without `permissions` there is no team, or the user is not a member. */
export type Viewer = {
  readonly person: Pick<Outputs['getMe'], 'role'> | undefined;
  readonly permissions?: readonly string[] | undefined;
};

/** Whether a user may see a page. The service checks each call; this decides what is shown and read. */
export function maySee(access: PageAccess, { person, permissions }: Viewer): boolean {
  switch (access) {
    case 'anyone':
      return true;
    case 'session':
      return person !== undefined;
    case 'operator':
      return person?.role === 'admin';
    case 'member':
      return permissions !== undefined;
    default:
      return permissions?.includes(access) ?? false;
  }
}
