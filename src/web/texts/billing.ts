/** The words of the page about a team's plan. */
export const billingTexts = {
  title: 'Billing',
} as const;
