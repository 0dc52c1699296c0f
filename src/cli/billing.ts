import { InvalidArgumentError, Option, type Command } from 'commander';
import { SUBSCRIPTION_INTERVALS, SUBSCRIPTION_STATUSES } from '../entities/index.ts';
import { getTeamBilling } from '../resources/billing/billing.queries.ts';
import { setSubscription } from '../resources/billing/billing.service.ts';
import { withServices } from './operate.ts';
import { instant, option, teamOption } from './options.ts';

type SetOptions = {
  team: string;
  plan: string;
  status?: (typeof SUBSCRIPTION_STATUSES)[number];
  interval?: (typeof SUBSCRIPTION_INTERVALS)[number];
  addon?: Record<string, number>;
  planExpiresAt?: Date;
  cancelAtPeriodEnd?: true;
  needsPaymentAction?: true;
  ifVersion?: number;
};

export function billingCommands(billing: Command): void {
  billing
    .command('set')
    .description('Replace the subscription of a team; omitted options get their defaults')
    .addOption(teamOption())
    .requiredOption('--plan <plan>', 'one of the configured plans')
    .addOption(new Option('--status <status>', 'status of the subscription').choices(SUBSCRIPTION_STATUSES))
    .addOption(new Option('--interval <interval>', 'billing interval').choices(SUBSCRIPTION_INTERVALS))
    .addOption(new Option('--addon <name=units>', 'units of an add-on; can be repeated').argParser(addAddon))
    .addOption(option('--plan-expires-at <instant>', 'renewal date, as ISO 8601 with a time zone', instant))
    .option('--cancel-at-period-end', 'cancel the subscription on the renewal date')
    .option('--needs-payment-action', 'the payment needs confirmation by the payer')
    .addOption(option('--if-version <version>', 'change nothing if the subscription has another version', version))
    .action(
      withServices(async ({ db, config }, { team, plan, addon, ifVersion, ...rest }: SetOptions) => {
        await setSubscription(db, 'system', config.plans, team, { planId: plan, addons: addon, ...rest }, ifVersion);
        const summary = await getTeamBilling(db, config.plans, team);
        const addons = Object.entries(summary.addons).map(([name, units]) => `, ${name}=${units}`);
        return {
          json: summary,
          lines: [[team, summary.planName, `(${summary.status ?? 'no status'}${addons.join('')})`]],
        };
      }),
    );
}

function version(raw: string): number {
  if (!/^\d{1,9}$/.test(raw)) throw new InvalidArgumentError('It must be a whole number from 0.');
  return Number(raw);
}

function addAddon(raw: string, addons: Record<string, number> = {}): Record<string, number> {
  const [, name, units] = /^([A-Za-z][A-Za-z0-9_-]{0,63})=(\d{1,9})$/.exec(raw) ?? [];
  if (name === undefined)
    throw new InvalidArgumentError('It must be a name and a whole number from 0, such as seats=3.');
  return { ...addons, [name]: Number(units) };
}
