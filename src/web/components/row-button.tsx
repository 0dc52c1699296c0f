import { Button, type ButtonProps } from '@mantine/core';
import type { ComponentProps } from 'react';

/** A small button in a row of a list. */
export const RowButton = (props: ButtonProps & Omit<ComponentProps<'button'>, keyof ButtonProps>) => (
  <Button size="compact-sm" variant="subtle" {...props} />
);
