import { createBoundedCache } from './bounded-cache.ts';

/** Time zones by the rules of this process. */

const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;

/** Such as Ho_Chi_Minh, Port-au-Prince, Isle_of_Man. */
const USUAL_PART = /^[A-Z][a-z]+(?:[_-](?:[A-Z][a-z]+|of|au|es))*$/;

/** The zone's name in its usual case. Undefined for an unknown zone. */
export function canonicalZone(name: string): string | undefined {
  // Node accepts offsets as zones, but they are not names.
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    // Node only reports the target of an alias (Asia/Calcutta for Asia/Kolkata), not its spelling.
    const isWrittenAsUsual = name.split('/').every((part) => USUAL_PART.test(part));
    return timeZone.toLowerCase() !== name.toLowerCase() && isWrittenAsUsual ? name : timeZone;
  } catch {
    return undefined;
  }
}

const MAX_REMEMBERED = 500;
const clocks = createBoundedCache<string, Intl.DateTimeFormat>(MAX_REMEMBERED);

/** How far the zone's clock is ahead of UTC at an instant, in ms. Throws RangeError for an unknown zone. */
export function offsetAt(zone: string, instant: number): number {
  if (zone === 'UTC') return 0;
  const clock = clocks(
    zone,
    () =>
      new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      }),
  );
  // In the format `12/31/2026, 23:59:59`; `formatToParts` takes four times as long.
  const shown = clock.format(instant).match(/\d+/g)?.map(Number) ?? [];
  const [month = 1, day = 1, year = 0, hour = 0, minute = 0, second = 0] = shown;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1_000) * 1_000;
}

/** The instants at which the zone has this local time, given as if it were UTC: none, one or two, in order. */
export function instantsOf(zone: string, wall: number): number[] {
  const offsets = new Set([offsetAt(zone, wall - DAY_MS), offsetAt(zone, wall + DAY_MS)]);
  return [...offsets]
    .map((offset) => wall - offset)
    .filter((instant) => instant + offsetAt(zone, instant) === wall)
    .sort((a, b) => a - b);
}

/** The minute at which the zone's offset changes between two instants, all in ms since 1970. */
export function changeBetween(zone: string, from: number, to: number): number {
  const old = offsetAt(zone, from);
  let [low, high] = [Math.floor(from / MINUTE_MS), Math.ceil(to / MINUTE_MS)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(zone, middle * MINUTE_MS) === old) low = middle;
    else high = middle;
  }
  return high * MINUTE_MS;
}

/** The rules that are sent to others cover these years. */
const FIRST = Date.UTC(2020, 0, 1);
const LAST = Date.UTC(2070, 0, 1);
/** Less than the time between any two changes: in Morocco, clocks are set back for a month. */
const PROBE_MS = 20 * DAY_MS;

/** Each change of the zone's offset until 2070: when, in ms since 1970, and the new offset in ms. */
function changesOf(zone: string): { at: number; offset: number }[] {
  const changes: { at: number; offset: number }[] = [];
  let offset = offsetAt(zone, FIRST);
  for (let at = FIRST; at < LAST; at += PROBE_MS) {
    const next = offsetAt(zone, at + PROBE_MS);
    if (next === offset) continue;
    changes.push({ at: changeBetween(zone, at, at + PROBE_MS), offset: next });
    offset = next;
  }
  return changes;
}

const HEADER_BYTES = 44;
const CHANGE_BYTES = 9;
const TYPE_BYTES = 6;
/** Every offset has the same abbreviation, because programs that compute times do not read it. */
const ABBREVIATION = 'LOC\0';

const written = createBoundedCache<string, Uint8Array>(MAX_REMEMBERED);

/**
 * The rules of the zone from 2020 to 2070 as a TZif file (RFC 8536, version 2), for a program whose own rules may be
 * older or newer than those of this process. Throws RangeError for an unknown zone.
 */
export const zoneFile = (zone: string): Uint8Array =>
  written(zone, () => {
    const changes = changesOf(zone);
    const offsets = [...new Set([offsetAt(zone, FIRST), ...changes.map(({ offset }) => offset)])];
    const text = new TextEncoder().encode(ABBREVIATION);
    const body = changes.length * CHANGE_BYTES + offsets.length * TYPE_BYTES + text.length;
    // The first header describes an empty block for readers of version 1.
    const file = new Uint8Array(2 * HEADER_BYTES + body + 2);
    const view = new DataView(file.buffer);
    file.set(new TextEncoder().encode('TZif2'), 0);
    file.set(new TextEncoder().encode('TZif2'), HEADER_BYTES);
    for (const [at, count] of [changes.length, offsets.length, text.length].entries()) {
      view.setUint32(HEADER_BYTES + 32 + 4 * at, count);
    }
    let at = 2 * HEADER_BYTES;
    for (const change of changes) {
      view.setBigInt64(at, BigInt(change.at / 1_000));
      at += 8;
    }
    for (const change of changes) view.setUint8(at++, offsets.indexOf(change.offset));
    for (const offset of offsets) {
      view.setInt32(at, offset / 1_000);
      at += TYPE_BYTES;
    }
    file.set(text, at);
    // There is no rule for the time after that: the last offset stays.
    file.set(new TextEncoder().encode('\n\n'), at + text.length);
    return file;
  });
