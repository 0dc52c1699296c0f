import type { Outputs } from '../api-types.ts';
import { definePageTexts } from './define-page-texts.ts';

type Billing = Outputs['getTeamBilling'];

/** Texts of the page about a team's plan. */
export const billingTexts = definePageTexts('billing', {
  title: 'Billing',
  seats: {
    title: 'Seats',
    explanation: 'Each active member and pending invitation uses a seat.',
    bar: 'Used seats',
    taken: '{seats, plural, one {{taken, number} of # seat used} other {{taken, number} of # seats used}}',
    free: '{free, plural, one {One more person can be invited.} other {# more people can be invited.}}',
    full: 'All seats are used. Free a seat to invite more people.',
    over: '{count, plural, one {The team uses # seat more than its plan includes.} other {The team uses # seats more than its plan includes.}} Members keep their seats, but no one can be invited until seats are free.',
  },
  plan: {
    title: 'Plan',
    explanation: 'The operator of this service changes plans and add-ons.',
    name: 'Plan',
    status: 'Status',
    statuses: {
      trialing: 'On trial',
      active: 'Active',
      past_due: 'Payment overdue',
      canceled: 'Canceled',
      unpaid: 'Unpaid',
    } satisfies Readonly<Record<NonNullable<Billing['status']>, string>>,
    interval: 'Billed',
    intervals: { month: 'Monthly', year: 'Yearly' } satisfies Readonly<
      Record<NonNullable<Billing['interval']>, string>
    >,
    renews: 'Renews',
    ends: 'Ends',
    ended: 'Ended',
    addons: 'Add-ons',
    additionalSeats: 'Additional seats: {units, number}',
    addon: '{name}: {units, number}',
    noSubscription: 'The team has no subscription and is not charged.',
  },
  paymentTitle: 'Payment action required',
  payment:
    'The payment provider needs one more step, such as a confirmation by your bank. Contact the operator of this service.',
  cancelTitle: 'The plan ends soon',
  cancel: 'The plan will not renew at the end of its period.',
  cancelOn: 'The plan will not renew and ends on {date}.',
});
