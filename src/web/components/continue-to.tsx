import { Button, Text } from '@mantine/core';
import { useEffect } from 'react';
import { publicTexts } from '../messages/public.ts';
import type { Outputs } from '../trpc.ts';

type Application = NonNullable<Outputs['auth']['verifyEmail']['continueTo']>;

type ContinueToProps = {
  readonly application: Application;
  /** Whether the browser goes there at once, and the button is for when it takes long. */
  readonly isAtOnce?: boolean;
};

/** Leads to the application at which the user’s way began. The service says where it is. */
export function ContinueTo({ application: { name, url }, isAtOnce = true }: ContinueToProps) {
  useEffect(() => {
    if (isAtOnce) window.location.replace(url);
  }, [isAtOnce, url]);
  return (
    <Button component="a" href={url} size="md" fullWidth>
      {publicTexts.application.continueTo(name)}
    </Button>
  );
}

/** Says to which application a page leads that does something else first. */
export const ThenTo = ({ application }: { readonly application: string | undefined }) =>
  application === undefined ? null : (
    <Text size="sm" className="wrap">
      {publicTexts.application.later(application)}
    </Text>
  );
