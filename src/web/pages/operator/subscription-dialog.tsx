import { Alert, Button, Checkbox, NativeSelect, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useCallForm } from '../../components/call-form.ts';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useNotice } from '../../components/notices.tsx';
import { billingTexts } from '../../messages/billing.ts';
import { texts } from '../../messages/console.ts';
import { areaTexts } from '../../messages/operator-area.ts';
import { trpc, type Outputs } from '../../trpc.ts';
import { toDay, toInstant } from './values.ts';

const words = areaTexts.subscription;
const { plan: planWords } = billingTexts;

type Team = Outputs['operator']['team'];
type Status = keyof typeof planWords.statuses;
type Interval = keyof typeof planWords.intervals;

type SubscriptionDialogProps = {
  readonly team: Team;
  readonly reread: () => Promise<unknown>;
  readonly onClose: () => void;
};

/** Replaces the subscription that the page has shown; another one, of another tab or the billing, is never replaced. */
export function SubscriptionDialog({ team, reread, onClose }: SubscriptionDialogProps) {
  const [base, setBase] = useState(team);
  return (
    <SubscriptionForm
      key={base.subscription.version}
      base={base}
      present={team}
      restart={() => setBase(team)}
      reread={reread}
      onClose={onClose}
    />
  );
}

type FormProps = Omit<SubscriptionDialogProps, 'team'> & {
  /** The team when the form began, and as it is now. */
  readonly base: Team;
  readonly present: Team;
  readonly restart: () => void;
};

function SubscriptionForm({ base, present, restart, reread, onClose }: FormProps) {
  const { subscription, plans } = base;
  const notify = useNotice();
  const [cancels, setCancels] = useState(subscription.cancelAtPeriodEnd);
  const [needsPayment, setNeedsPayment] = useState(subscription.needsPaymentAction);
  const [hasConflict, setConflict] = useState(false);
  const day = toDay(subscription.planExpiresAt);
  const form = useCallForm({
    initialValues: {
      planId: subscription.planId,
      status: subscription.status ?? '',
      interval: subscription.interval ?? '',
      addons: Object.entries(subscription.addons)
        .map(([name, units]) => `${name}: ${units}`)
        .join('\n'),
      planExpiresAt: day,
    },
    call: async ({ planId, status, interval, addons, planExpiresAt }) => {
      await trpc.operator.setSubscription.mutate({
        teamId: base.id,
        version: subscription.version,
        planId,
        status: status === '' ? null : (status as Status), // an option below
        interval: interval === '' ? null : (interval as Interval), // an option below
        addons: toUnits(addons),
        // The time of day stays if the day does.
        planExpiresAt: planExpiresAt === day ? subscription.planExpiresAt : toExpiry(planExpiresAt),
        cancelAtPeriodEnd: cancels,
        needsPaymentAction: needsPayment,
      });
      await reread();
    },
    onSuccess: () => {
      onClose();
      notify(words.saved);
    },
    onError: ({ code }) => {
      setConflict(code === 'version_mismatch');
      void reread();
    },
  });
  const current = plans.some(({ id }) => id === subscription.planId)
    ? []
    : [{ value: subscription.planId, label: subscription.planName }];
  return (
    <FormDialog
      title={words.dialog(base.name)}
      form={hasConflict ? { ...form, failure: undefined } : form}
      submit={texts.save}
      isIncomplete={hasConflict}
      explanation={
        hasConflict && (
          <Alert color="yellow" role="alert" title={words.conflictTitle}>
            <Text size="sm" mb="xs">
              {words.conflict({ plan: present.subscription.planName, version: present.subscription.version })}
            </Text>
            <Button size="compact-sm" variant="default" onClick={restart}>
              {words.restart}
            </Button>
          </Alert>
        )
      }
      onClose={onClose}
    >
      <NativeSelect
        {...form.field('planId')}
        label={words.plan}
        data={[
          ...current,
          ...plans.map(({ id, name, seats }) => ({ value: id, label: words.planOf({ name, seats }) })),
        ]}
        data-autofocus
      />
      <NativeSelect {...form.field('status')} label={words.status} data={withNone(planWords.statuses)} />
      <NativeSelect {...form.field('interval')} label={words.interval} data={withNone(planWords.intervals)} />
      <Textarea
        {...form.field('addons')}
        label={texts.optional(words.addons)}
        description={words.addonsHint}
        autoComplete="off"
        rows={2}
      />
      <TextInput {...form.field('planExpiresAt')} type="date" max="9999-12-31" label={texts.optional(words.renewal)} />
      <Stack gap="sm">
        <Checkbox
          label={words.cancel}
          checked={cancels}
          onChange={({ currentTarget }) => setCancels(currentTarget.checked)}
        />
        <Checkbox
          label={words.payment}
          checked={needsPayment}
          onChange={({ currentTarget }) => setNeedsPayment(currentTarget.checked)}
        />
      </Stack>
    </FormDialog>
  );
}

const withNone = (choices: Readonly<Record<string, string>>) => [
  { value: '', label: words.none },
  ...Object.entries(choices).map(([value, label]) => ({ value, label })),
];

const toExpiry = (day: string): string | null => (day === '' ? null : toInstant(day));

/** Reads lines such as `seats: 3`. The service rejects units that are no whole number. */
const toUnits = (lines: string): Record<string, number> =>
  Object.fromEntries(
    lines
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const [name = '', units = ''] = line.split(/[:=]/).map((part) => part.trim());
        return [name, units === '' ? Number.NaN : Number(units)];
      }),
  );
