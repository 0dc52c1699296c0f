import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { texts } from '../messages/console.ts';

/** Tells password managers whose password a form contains. */
export const Username = ({ email }: { readonly email: string | null }) =>
  email !== null && <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />;

export const NewPassword = (props: PasswordInputProps) => (
  <PasswordInput
    label={texts.newPassword}
    description={texts.passwordHint}
    autoComplete="new-password"
    inputWrapperOrder={['label', 'input', 'description', 'error']}
    required
    {...props}
  />
);
