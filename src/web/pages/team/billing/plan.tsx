import { Badge, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useDates } from '../../../components/dates.ts';
import { billingTexts } from '../../../messages/billing.ts';
import type { Outputs } from '../../../trpc.ts';

const words = billingTexts.plan;

type Billing = Outputs['getTeamBilling'];

const COLORS: Readonly<Record<NonNullable<Billing['status']>, string>> = {
  trialing: 'blue',
  active: 'teal',
  past_due: 'yellow',
  canceled: 'gray',
  unpaid: 'red',
};

export function Plan({ billing }: { readonly billing: Billing }) {
  const { planName, status, interval, addons, planExpiresAt } = billing;
  const { day } = useDates();
  const units = Object.entries(addons).filter(([, count]) => count > 0);
  return (
    <dl className="values billing-values">
      <Value label={words.name}>
        <Text component="span" fw={600} className="wrap">
          {planName}
        </Text>
      </Value>
      {status !== null && (
        <Value label={words.status}>
          <Badge variant="light" color={COLORS[status]} tt="none">
            {words.statuses[status]}
          </Badge>
        </Value>
      )}
      {interval !== null && <Value label={words.interval}>{words.intervals[interval]}</Value>}
      {planExpiresAt !== null && <Value label={dateLabel(billing, planExpiresAt)}>{day(planExpiresAt)}</Value>}
      {units.length > 0 && (
        <Value label={words.addons}>
          {units.map(([name, count]) => (
            <span key={name} className="billing-addon">
              {name === 'seats' ? words.additionalSeats(count) : words.addon({ name, units: count })}
            </span>
          ))}
        </Value>
      )}
    </dl>
  );
}

const Value = ({ label, children }: { readonly label: string; readonly children: ReactNode }) => (
  <div>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
);

/** The renewal date, or the end date if the plan does not renew. */
function dateLabel({ status, cancelAtPeriodEnd }: Billing, date: string): string {
  if (!cancelAtPeriodEnd && status !== 'canceled') return words.renews;
  return new Date(date).getTime() <= Date.now() ? words.ended : words.ends;
}
