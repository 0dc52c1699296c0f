import { useForm } from '@mantine/form';
import { useRef } from 'react';
import { nameForm, useEntry, useReturned } from '../kept.ts';
import { faultTexts } from '../messages/faults.ts';
import { toFailure, type Failure } from '../trpc.ts';
import { useSubmission } from './submission.ts';

type Values = Record<string, string>;

type CallFormOptions<Fields extends Values, Output> = {
  readonly initialValues: Fields;
  readonly call: (values: Fields) => Promise<Output>;
  readonly onSuccess?: (output: Output, values: Fields) => unknown;
  readonly onError?: (failure: Failure) => void;
  /** The field that shows the error of a code, in addition to the fields that the problem document names. */
  readonly fieldOf?: Partial<Record<NonNullable<Failure['code']>, keyof Fields & string>>;
  /** The fields that hold a list, one entry per line. */
  readonly lists?: readonly (keyof Fields & string)[];
  /** Texts for faults of a field for which the general texts are not specific enough. */
  readonly faults?: Partial<Record<keyof Fields & string, Partial<Record<Fault['code'], string>>>>;
  /** Whether it creates something. What was entered is there again after its dialog was closed without a word. */
  readonly isNew?: boolean;
};

/** A form that is submitted by one call. Only the service validates, and its errors are shown at their fields. */
export function useCallForm<Fields extends Values, Output>({
  initialValues,
  call,
  onSuccess,
  onError,
  fieldOf = {},
  lists = [],
  faults = {},
  isNew = false,
}: CallFormOptions<Fields, Output>) {
  const entry = nameForm(Object.keys(initialValues), isNew);
  const before = useReturned(entry, withoutSecrets(initialValues));
  const saved = useRef<Values>(undefined);
  const form = useForm<Fields>({
    mode: 'uncontrolled',
    initialValues: { ...initialValues, ...(before?.value as Partial<Fields> | undefined) }, // as the form has kept them
  });
  useEntry(
    entry,
    () => withoutSecrets(form.getValues()),
    () => withoutSecrets(saved.current ?? initialValues),
  );
  const mutation = useSubmission({
    isRepeatable: true,
    mutationFn: call,
    onSuccess: (output, values) => {
      saved.current = values;
      return onSuccess?.(output, values);
    },
    onError: (error) => {
      const found = toFieldErrors(toFailure(error));
      form.setErrors(found);
      const first = Object.keys(initialValues).find((name) => name in found);
      if (first !== undefined) form.getInputNode(first)?.focus();
      onError?.(toFailure(error));
    },
  });

  function toFieldErrors(failure: Failure): Record<string, string> {
    const field = failure.code === null ? undefined : fieldOf[failure.code];
    if (field !== undefined) return { [field]: failure.detail };
    const found = failure.errors.map((entry) => {
      const [, name = '', index] = entry.pointer.split('/');
      const own = faults[name]?.[entry.code];
      return [name, own ?? (lists.includes(name) ? listFaultText(failure, entry, index) : faultText(entry))] as const;
    });
    return Object.fromEntries(found.filter(([name]) => name in initialValues).reverse());
  }

  const failure = mutation.error === null ? undefined : toFailure(mutation.error);
  return {
    field: (name: keyof Fields & string) => ({ key: form.key(name), ...form.getInputProps(name), name }),
    submit: form.onSubmit((values) => mutation.submit(values)),
    values: () => form.getValues(),
    reset: () => {
      form.setInitialValues(initialValues);
      form.reset();
      mutation.reset();
    },
    pending: mutation.isPending,
    error: mutation.error,
    /** The error, unless a field shows it. */
    failure: failure === undefined || Object.keys(toFieldErrors(failure)).length > 0 ? undefined : failure,
  };
}

/** What users enter only into the form itself. */
const SECRET = /password|code|secret/i;

const withoutSecrets = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !SECRET.test(name)));

/** A form as its dialog needs it. */
export type CallForm = Pick<ReturnType<typeof useCallForm>, 'submit' | 'pending' | 'failure'>;

type Fault = Failure['errors'][number];

/** For an entry of a list, the detail is more specific than the code. */
function listFaultText({ detail }: Failure, fault: Fault, index: string | undefined): string {
  if (index !== undefined) return faultTexts.line({ number: Number(index) + 1, fault: detail });
  const max = fault.params?.['max'];
  return max === undefined ? faultText(fault) : faultTexts.max_lines(Number(max));
}

/** Returns the text for an invalid value. */
export function faultText({ code, pointer, params = {} }: Fault): string {
  const bound = Number(params['min'] ?? params['max']);
  if (code === 'invalid_format' && params['format'] === 'email') return faultTexts.email;
  if (code === 'invalid_format' && params['format'] === 'name') return faultTexts.name;
  if (code === 'invalid_value' && /password/i.test(pointer)) return faultTexts.password;
  const fault = faultTexts[code];
  return typeof fault === 'string' ? fault : fault(bound);
}
