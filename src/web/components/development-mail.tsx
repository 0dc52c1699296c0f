import { Alert, Anchor } from '@mantine/core';
import { IS_DEVELOPMENT } from '../brand.ts';
import { publicTexts } from '../messages/public.ts';

/** During development no email is sent: links to the page that shows it. */
export const DevelopmentMail = () =>
  IS_DEVELOPMENT && (
    <Alert color="gray" title={publicTexts.development.title}>
      <Anchor href="/dev/mail" size="sm">
        {publicTexts.development.open}
      </Anchor>
    </Alert>
  );
