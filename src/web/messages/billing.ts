import type { Outputs } from '../trpc.ts';

type Billing = Outputs['getTeamBilling'];

/** The words of the page about a team's plan. */
export const billingTexts = {
  title: 'Billing',
  refusedTitle: 'Your role does not include billing',
  refused: 'Ask the owner of the team for a role that may see the plan and billing.',
  seats: {
    title: 'Seats',
    explanation: 'Active members and pending invitations take a seat each.',
    bar: 'Seats that are taken',
    taken: (taken: number, seats: number) => `${taken} of ${seats} ${seats === 1 ? 'seat is' : 'seats are'} taken`,
    free: (free: number) => (free === 1 ? 'One more person can be invited.' : `${free} more people can be invited.`),
    full: 'All seats are taken. Nobody can be invited until one is free.',
    over: (count: number) =>
      `The team takes ${count} ${count === 1 ? 'seat' : 'seats'} more than its plan has. Nobody loses theirs, but nobody can be invited until there is room.`,
  },
  plan: {
    title: 'Plan',
    explanation: 'Plans and add-ons are changed by the operator of this service, not here.',
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
    addon: (name: string, units: number) => `${name === 'seats' ? 'Additional seats' : name}: ${units}`,
    noSubscription: 'The team has no subscription, and nothing is charged.',
  },
  paymentTitle: 'A payment waits for you',
  payment:
    'The payment provider asks for one more step, such as a confirmation by your bank. Ask the operator of this service how to go on.',
  cancelTitle: 'The plan ends soon',
  cancel: (date: string | null) =>
    date === null ? 'It will not be renewed at the end of its period.' : `It will not be renewed, and ends on ${date}.`,
} as const;
