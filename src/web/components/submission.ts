import { useMutation, type UseMutationOptions } from '@tanstack/react-query';
import { useCallback, useRef } from 'react';

type SubmissionOptions<Output, Variables> = UseMutationOptions<Output, Error, Variables> & {
  /** Whether it can run again after a success, as a form that stays on the page. */
  readonly isRepeatable?: boolean;
};

/**
 * A change that the user submits. It runs once at a time, also after two clicks before the page shows that it runs,
 * and once for a double click, also if the answer arrives between its clicks.
 */
export function useSubmission<Output, Variables = void>({
  isRepeatable = false,
  ...options
}: SubmissionOptions<Output, Variables>) {
  const isRunning = useRef(false);
  const mutation = useMutation(options);
  const submit = (variables: Variables) => {
    if (isRunning.current || isSecondClick()) return;
    isRunning.current = true;
    mutation.mutate(variables, {
      onSettled: (_output, error) => {
        isRunning.current = error === null && !isRepeatable;
      },
    });
  };
  const { reset } = mutation;
  return {
    ...mutation,
    submit,
    reset: useCallback(() => {
      isRunning.current = false;
      reset();
    }, [reset]),
  };
}

/** Whether the present event is the second click of a double click: another row can be under it by now. */
function isSecondClick(): boolean {
  const { event } = window;
  return event instanceof MouseEvent && event.type === 'click' && event.detail > 1;
}
