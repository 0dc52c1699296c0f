import { Text } from '@mantine/core';
import { Copyable } from '../../components/copyable.tsx';
import { useDates } from '../../components/dates.ts';
import { Section } from '../../components/section.tsx';
import { operatorTexts } from '../../messages/operator.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import type { Outputs } from '../../trpc.ts';
import { Fact } from './fact.tsx';
import { Name } from '../../components/name.tsx';

const words = operatorTexts.account;

export function AccountDetails({ account }: { readonly account: Outputs['operator']['account'] }) {
  const { day } = useDates();
  const { id, externalId, email, emailVerified, preferredLocale, createdAt } = account;
  return (
    <Section title={words.details} explanation={words.detailsHint}>
      <dl className="values operator-values">
        <Fact label={words.email} isWide>
          {email === null ? words.noEmail : <Name>{email}</Name>}
          {email !== null && (
            <Text size="sm" c="dimmed">
              {emailVerified === null ? words.unverified : words.verified(day(emailVerified))}
            </Text>
          )}
        </Fact>
        <Fact label={words.id} isWide>
          <Copyable label={words.id} value={id} />
        </Fact>
        {externalId !== null && (
          <Fact label={areaTexts.externalId} isWide>
            <Name>{externalId}</Name>
          </Fact>
        )}
        <Fact label={words.locale}>{preferredLocale ?? words.noLocale}</Fact>
        <Fact label={words.created}>{day(createdAt)}</Fact>
      </dl>
    </Section>
  );
}
