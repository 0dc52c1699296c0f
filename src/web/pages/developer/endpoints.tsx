import { Anchor, Text } from '@mantine/core';
import { Copyable } from '../../components/copyable.tsx';
import { Section } from '../../components/section.tsx';
import { developerTexts } from '../../messages/oauth.ts';

const words = developerTexts.endpoints;

/** The URLs for configuring an OAuth library. */
export function Endpoints() {
  const issuer = window.location.origin;
  return (
    <Section title={words.title} explanation={words.explanation}>
      <dl className="values">
        <Endpoint label={words.issuer} url={issuer} />
        <Endpoint label={words.authorize} url={`${issuer}/oauth/authorize`} />
        <Endpoint label={words.token} url={`${issuer}/oauth/token`} />
        <Endpoint label={words.metadata} url={`${issuer}/.well-known/oauth-authorization-server`} />
      </dl>
      <Text size="sm">
        <Anchor href="/docs" inherit>
          {words.docs}
        </Anchor>
      </Text>
    </Section>
  );
}

const Endpoint = ({ label, url }: { readonly label: string; readonly url: string }) => (
  <div>
    <dt>{label}</dt>
    <dd>
      <Copyable label={label} value={url} />
    </dd>
  </div>
);
