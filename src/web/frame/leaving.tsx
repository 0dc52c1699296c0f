import { useBlocker } from '@tanstack/react-router';
import { Confirmation } from '../components/confirmation.tsx';
import { hasUnsaved } from '../kept.ts';
import { frameTexts } from '../messages/frame.ts';
import { PROOF_KEY, readValue } from '../stored.ts';

const words = frameTexts.leaving;

/** Asks before a page is left whose form was changed and not saved; the browser asks before its tab is closed. */
export function Leaving() {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && hasUnsaved(),
    // What was entered when an emailed link was asked for comes back when it is opened in this tab.
    enableBeforeUnload: () => hasUnsaved() && readValue('sessionStorage', PROOF_KEY) === null,
    withResolver: true,
  });
  if (status !== 'blocked') return null;
  return (
    <Confirmation
      title={words.title}
      explanation={words.explanation}
      submit={words.submit}
      call={() => Promise.resolve()}
      onSuccess={proceed}
      onClose={reset}
    />
  );
}
