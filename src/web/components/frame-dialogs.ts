import { createContext, use } from 'react';

/** A dialog that the frame opens over any page. */
export type FrameDialog = 'shortcuts' | 'createTeam' | 'commands';

export const FrameContext = createContext<(dialog: FrameDialog) => void>(() => undefined);

/** Returns how to open a dialog of the frame. */
export const useFrameDialogs = () => use(FrameContext);
