import { createContext, use } from 'react';
import { BRAND } from '../brand.ts';

/** The team whose page it is, for the title of the window. */
export const TitleContext = createContext<string | null>(null);

/** Returns the title of the window: the page, its team and the product. */
export function useWindowTitle(page: string): string {
  const team = use(TitleContext);
  return [page, ...(team === null ? [] : [team]), BRAND.name].join(' · ');
}
