import { Badge, Button, Group } from '@mantine/core';
import { useState } from 'react';
import { useDates } from '../../components/dates.ts';
import { Section } from '../../components/section.tsx';
import { billingTexts } from '../../messages/billing.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import type { Outputs } from '../../trpc.ts';
import { Fact } from './fact.tsx';
import { SubscriptionDialog } from './subscription-dialog.tsx';
import { SEPARATOR } from '../../messages/language.ts';

const words = areaTexts.subscription;
const { plan: planWords } = billingTexts;

type SubscriptionProps = { readonly team: Outputs['operator']['team']; readonly reread: () => Promise<unknown> };

/** The subscription of a team, with the dialog that replaces it. */
export function Subscription({ team, reread }: SubscriptionProps) {
  const { day } = useDates();
  const [isOpen, setOpen] = useState(false);
  const { planName, status, interval, addons, planExpiresAt, cancelAtPeriodEnd, needsPaymentAction, version } =
    team.subscription;
  const units = Object.entries(addons);
  return (
    <Section title={words.title} explanation={version === 0 ? words.never : words.version(version)}>
      <dl className="values operator-values">
        <Fact label={words.plan}>{planName}</Fact>
        <Fact label={words.status}>{status === null ? words.none : planWords.statuses[status]}</Fact>
        <Fact label={words.interval}>{interval === null ? words.none : planWords.intervals[interval]}</Fact>
        <Fact label={words.renewal}>{planExpiresAt === null ? words.none : day(planExpiresAt)}</Fact>
        <Fact label={words.addons} isWide>
          {units.length === 0 ? words.none : units.map(([name, count]) => `${name}: ${count}`).join(SEPARATOR)}
        </Fact>
      </dl>
      {(cancelAtPeriodEnd || needsPaymentAction) && (
        <Group gap="xs">
          {cancelAtPeriodEnd && (
            <Badge variant="light" color="yellow" tt="none">
              {words.cancel}
            </Badge>
          )}
          {needsPaymentAction && (
            <Badge variant="light" color="red" tt="none">
              {words.payment}
            </Badge>
          )}
        </Group>
      )}
      <div>
        <Button variant="default" onClick={() => setOpen(true)}>
          {words.change}
        </Button>
      </div>
      {isOpen && <SubscriptionDialog team={team} reread={reread} onClose={() => setOpen(false)} />}
    </Section>
  );
}
