/** The faults that `audit verify` reports, with their explanations. */
export const FAULTS = {
  event_changed: 'was changed',
  event_missing: 'was deleted',
  event_unchained: 'has no position and never gets one: its link was deleted, or its transaction id was changed',
  event_forged: 'has no valid MAC: this service did not write it, or its key is no longer in SECRET_KEYS',
  link_missing: 'no longer has a link',
  checkpoint_differs: 'differs from the signed or known checkpoint',
  checkpoint_not_signed: 'is the end of the chain or the newest checkpoint, and none of SECRET_KEYS has signed it',
  checkpoint_missing: 'and all others are not covered by any checkpoint',
  end_not_signed: 'comes after the signed end',
  end_missing: 'and all events after it were cut off',
  chain_restarted: 'is where the chain was restarted, after accounts and events that it should cover',
  trigger_missing: 'is missing',
  trigger_disabled: 'is disabled',
  trigger_changed: 'was replaced',
  trigger_bypassed:
    'is passed by connections: reset session_replication_role and roster.retention of database and roles',
} as const;

export type FaultKind = keyof typeof FAULTS;

export type Fault = {
  readonly kind: FaultKind;
  readonly sequence: number | null;
  readonly eventId: string | null;
  /** The name of the faulty trigger. */
  readonly trigger?: string;
};

export const faultAt = (kind: FaultKind, sequence: number | null, eventId: string | null = null): Fault => ({
  kind,
  sequence,
  eventId,
});

/** Describes a fault in one line. */
export function describeFault({ kind, sequence, eventId, trigger }: Fault): string {
  const subject =
    trigger !== undefined
      ? `trigger ${trigger}`
      : ['event', sequence, eventId].filter((part) => part !== null).join(' ');
  return `${subject} ${FAULTS[kind]} (${kind})`;
}
