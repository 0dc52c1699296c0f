import { NativeSelect, TextInput } from '@mantine/core';
import { apiKeysTexts as words } from '../../messages/api-keys.ts';

const DAY_MS = 86_400_000;

/** The service takes at most so many days. */
const DAYS_MAX = 365;

const midnight = (day: string): number => Date.parse(`${day}T00:00:00Z`);
const today = (): string => {
  const now = new Date();
  return new Date(Date.UTC(now.getFullYear(), now.getMonth(), now.getDate())).toISOString().slice(0, 10);
};
const dayIn = (days: number): string => new Date(midnight(today()) + days * DAY_MS).toISOString().slice(0, 10);

/** What was chosen: a number of days, `never`, or `custom` with a day such as `2027-01-31`. */
export type ChosenExpiry = { readonly choice: string; readonly day: string };

/** Returns the days from today to the chosen day; undefined if the key does not expire. */
export function toDays({ choice, day }: ChosenExpiry): number | undefined {
  if (choice === 'never') return undefined;
  return choice === 'custom' ? Math.round((midnight(day) - midnight(today())) / DAY_MS) : Number(choice);
}

export function isPossible(chosen: ChosenExpiry): boolean {
  const days = toDays(chosen);
  return days === undefined || (days >= 1 && days <= DAYS_MAX);
}

type ExpiryFieldProps = { readonly chosen: ChosenExpiry; readonly onChange: (chosen: ChosenExpiry) => void };

/** Chooses when a key expires: in some days, on a day, or never. */
export const ExpiryField = ({ chosen, onChange }: ExpiryFieldProps) => (
  <>
    <NativeSelect
      label={words.expiry}
      description={words.expiryHint}
      value={chosen.choice}
      onChange={({ currentTarget: { value } }) => onChange({ ...chosen, choice: value })}
      data={Object.entries(words.expiries).map(([value, label]) => ({ value, label }))}
    />
    {chosen.choice === 'custom' && (
      <TextInput
        type="date"
        label={words.expiryDay}
        description={words.expiryDayHint}
        min={dayIn(1)}
        max={dayIn(DAYS_MAX)}
        value={chosen.day}
        onChange={({ currentTarget: { value } }) => onChange({ ...chosen, day: value })}
        error={chosen.day !== '' && !isPossible(chosen) && words.expiryDayFault}
        required
      />
    )}
  </>
);
