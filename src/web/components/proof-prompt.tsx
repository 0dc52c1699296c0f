import { lazy, Suspense, useEffect, useState } from 'react';
import { setProofPrompt } from '../proof.ts';

const ProofDialog = lazy(() => import('./proof-dialog.tsx').then((module) => ({ default: module.ProofDialog })));

type Finish = (isProven: boolean) => void;

/** Opens the dialog in which users confirm who they are, whenever a call needs it. */
export function ProofPrompt() {
  const [finish, setFinish] = useState<Finish>();
  useEffect(() => {
    setProofPrompt(
      () =>
        new Promise((resolve) => {
          setFinish(() => (isProven: boolean) => {
            setFinish(undefined);
            resolve(isProven);
          });
        }),
    );
  }, []);
  return finish === undefined ? null : (
    <Suspense>
      <ProofDialog onFinish={finish} />
    </Suspense>
  );
}
