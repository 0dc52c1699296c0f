import { Text } from '@mantine/core';
import { Copyable } from '../../components/copyable.tsx';
import { useDates } from '../../components/dates.ts';
import { TextLink } from '../../components/links.tsx';
import { Section } from '../../components/section.tsx';
import { operatorTexts } from '../../messages/operator.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import type { Outputs } from '../../trpc.ts';
import { Fact } from './fact.tsx';
import { getAccountName } from './account-name.ts';
import { Name } from '../../components/name.tsx';

type Team = Outputs['operator']['team'];

const words = operatorTexts.team;

export function TeamDetails({ team: { id, externalId, slug, owner, createdAt } }: { readonly team: Team }) {
  const { day } = useDates();
  return (
    <Section title={words.details} explanation={words.detailsHint}>
      <dl className="values operator-values">
        <Fact label={words.owner} isWide>
          {owner === null ? words.noOwner : <Owner owner={owner} />}
        </Fact>
        <Fact label={words.created}>{day(createdAt)}</Fact>
        <Fact label={words.slug} isWide>
          {slug}
        </Fact>
        {externalId !== null && (
          <Fact label={areaTexts.externalId} isWide>
            <Name>{externalId}</Name>
          </Fact>
        )}
        <Fact label={words.id} isWide>
          <Copyable label={words.id} value={id} />
        </Fact>
      </dl>
    </Section>
  );
}

const Owner = ({ owner }: { readonly owner: NonNullable<Team['owner']> }) => (
  <>
    <TextLink to="/operator/accounts/$accountId" params={{ accountId: owner.id }}>
      <Name>{getAccountName(owner)}</Name>
    </TextLink>
    {owner.email !== null && owner.email !== getAccountName(owner) && (
      <Text size="sm" c="dimmed">
        <Name>{owner.email}</Name>
      </Text>
    )}
  </>
);
