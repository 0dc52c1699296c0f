import { useMutation, type UseMutationOptions } from '@tanstack/react-query';
import { useRef } from 'react';

type SubmissionOptions<Output, Variables> = UseMutationOptions<Output, Error, Variables> & {
  /** Whether it can run again after a success, as a form that stays on the page. */
  readonly isRepeatable?: boolean;
};

/** A change that the user submits. It runs once at a time, also after two clicks before the page shows that it runs. */
export function useSubmission<Output, Variables = void>({
  isRepeatable = false,
  ...options
}: SubmissionOptions<Output, Variables>) {
  const isRunning = useRef(false);
  const mutation = useMutation(options);
  const submit = (variables: Variables) => {
    if (isRunning.current) return;
    isRunning.current = true;
    mutation.mutate(variables, {
      onSettled: (_output, error) => {
        isRunning.current = error === null && !isRepeatable;
      },
    });
  };
  return { ...mutation, submit };
}
