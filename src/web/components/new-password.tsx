import { PasswordInput, type PasswordInputProps } from '@mantine/core';
import { texts } from '../messages/console.ts';

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
