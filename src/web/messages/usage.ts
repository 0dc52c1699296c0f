import { definePageTexts } from './define-page-texts.ts';

/** Texts of the plot of requests by day. */
export const usageTexts = definePageTexts('usage', {
  total: '{requests, plural, =0 {No requests} one {# request} other {# requests}} in {days, number} days',
  bar: '{day}: {requests, number}',
  most: 'At most {requests, number} a day',
  caption: 'Requests by day (UTC) in the last {days, number} days',
  day: 'Day',
  requests: 'Requests',
});
