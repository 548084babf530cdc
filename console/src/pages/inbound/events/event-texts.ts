import type { ListedInboundEvent } from '#client/index.ts';
import { locale } from '#console/src/messages/en/locale.ts';
import {
  eventOutcomes,
  eventSize as text,
} from '#console/src/messages/en/workflows/inbound-events.ts';

/** Each outcome as a label. */
export const outcomes = {
  run: { label: eventOutcomes.run, color: 'success' },
  event: { label: eventOutcomes.event, color: 'success' },
  duplicate: { label: eventOutcomes.duplicate, color: 'gray' },
  refused: { label: eventOutcomes.refused, color: 'danger' },
} as const satisfies Record<ListedInboundEvent['outcome'], { label: string; color: string }>;

/** The signature of such an event was invalid, so anyone can have sent it. */
export const isUnverified = ({ reason }: ListedInboundEvent): boolean =>
  reason !== null &&
  ['timestamp_missing', 'timestamp_expired', 'signature_missing', 'signature_mismatch'].includes(
    reason,
  );

const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });

/** A size in bytes as readable text. */
export const sizeText = (bytes: number): string =>
  bytes < 1_024 ? text.bytes(whole.format(bytes)) : text.kilobytes(whole.format(bytes / 1_024));
