import { lazy } from 'react';
import { setProofPrompt } from '../proof.ts';
import { LoadedDialog } from './loaded-dialog.tsx';
import { usePrompt } from './prompt.ts';

const ProofDialog = lazy(() => import('./proof-dialog.tsx').then((module) => ({ default: module.ProofDialog })));

/** Opens the dialog in which users confirm who they are, whenever a call needs it. */
export function ProofPrompt() {
  const finish = usePrompt(setProofPrompt);
  return finish === undefined ? null : (
    <LoadedDialog onClose={() => finish(false)}>
      <ProofDialog onFinish={finish} />
    </LoadedDialog>
  );
}
