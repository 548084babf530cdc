import { createBoundedCache } from './bounded-cache.ts';

/**
 * A cron text as the sorted values of its fields, each once. This is the only parser of cron texts: due times and what
 * Temporal gets are computed from it.
 */
export interface CronFields {
  minute: readonly number[];
  hour: readonly number[];
  day: readonly number[];
  month: readonly number[];
  /** 0 is Sunday; 7 does not occur. */
  weekday: readonly number[];
  /** Whether a day must match both day of month and day of week, or either one. */
  days: 'both' | 'either';
}

const MACROS: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

interface Field {
  label: string;
  from: number;
  to: number;
  /** The last value of `*`, if a text can use a higher one. */
  last?: number;
  /** The names of the values, starting at `from`. */
  names?: readonly string[];
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const WEEKDAYS = 'sun mon tue wed thu fri sat'.split(' ');
const minute: Field = { label: 'minute', from: 0, to: 59 };
const hour: Field = { label: 'hour', from: 0, to: 23 };
const day: Field = { label: 'day of month', from: 1, to: 31 };
const month: Field = { label: 'month', from: 1, to: 12, names: MONTHS };
const weekday: Field = { label: 'day of week', from: 0, to: 7, last: 6, names: WEEKDAYS };

const SUNDAY_AT_END = 7;

const MAX_REMEMBERED = 500;
const known = createBoundedCache<string, CronFields>(MAX_REMEMBERED);

/**
 * Parses five cron fields, or a macro such as `@daily`. As in cron, a day must match day of month and day of week if
 * one of them begins with `*`; otherwise either one is enough. Throws Error with the field and the part that is wrong.
 */
export const parseCron = (cron: string): CronFields => known(cron, () => read(cron));

function read(cron: string): CronFields {
  const texts = (MACROS[cron.trim().toLowerCase()] ?? cron).trim().split(/\s+/);
  const [minutes = '', hours = '', days = '', months = '', weekdays = ''] = texts;
  if (texts.length !== 5) {
    throw new Error('must have five fields: minute, hour, day of month, month, day of week');
  }
  return {
    minute: valuesOf(minute, minutes),
    hour: valuesOf(hour, hours),
    day: valuesOf(day, days),
    month: valuesOf(month, months),
    weekday: valuesOf(weekday, weekdays),
    days: days.startsWith('*') || weekdays.startsWith('*') ? 'both' : 'either',
  };
}

function valuesOf(field: Field, text: string): number[] {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const { from, to, step } = partOf(field, part);
    for (let value = from; value <= to; value += step) {
      values.add(field === weekday ? value % 7 : value);
    }
  }
  return [...values].sort((a, b) => a - b);
}

const PART = /^(?:(?<all>\*)|(?<start>[a-z0-9]+)(?:-(?<end>[a-z0-9]+))?)(?:\/(?<step>\d+))?$/i;

function partOf(field: Field, part: string): { from: number; to: number; step: number } {
  const wrong = (reason: string) =>
    new Error(`is not understood: ${field.label} '${part}' ${reason}`);
  const match = PART.exec(part)?.groups;
  if (match === undefined) throw wrong('is not *, a value or a range');
  const { all, start = '', end, step = '1' } = match;
  const last = field.last ?? field.to;
  const steps = Number(step);
  const most = last - field.from + 1;
  if (steps < 1 || steps > most) throw wrong(`has a step that is not 1 to ${most}`);
  if (all !== undefined) return { from: field.from, to: last, step: steps };
  if (end === undefined && match['step'] !== undefined) {
    throw wrong('has a step without a range; steps follow * or a range');
  }
  const from = valueOf(field, start);
  let to = valueOf(field, end ?? start);
  if (from === undefined || to === undefined) {
    const names = field.names === undefined ? '' : ` or ${field.names[0]} to ${field.names.at(-1)}`;
    throw wrong(`is not ${field.from} to ${field.to}${names}`);
  }
  // Sunday can also end a range of names.
  if (end?.toLowerCase() === WEEKDAYS[0] && from > to) to = SUNDAY_AT_END;
  if (from > to) throw wrong('is a range that begins after its end');
  return { from, to, step: steps };
}

function valueOf(field: Field, text: string): number | undefined {
  const name = field.names?.indexOf(text.toLowerCase()) ?? -1;
  if (name >= 0) return field.from + name;
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  return value >= field.from && value <= field.to ? value : undefined;
}
