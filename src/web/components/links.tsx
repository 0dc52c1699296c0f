import { Anchor, Button, type AnchorProps, type ButtonProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentProps } from 'react';

type Native<Own> = Omit<ComponentProps<'a'>, keyof Own>;

/** A text link to a page of the console. */
export const TextLink = createLink((props: AnchorProps & Native<AnchorProps>) => <Anchor inherit {...props} />);

/** A link to a page of the console that looks like a button. */
export const ButtonLink = createLink((props: ButtonProps & Native<ButtonProps>) => <Button component="a" {...props} />);
