/** A minimum and a maximum. `max` null: there is no upper bound. */
export interface Bounds {
  min: number;
  max: number | null;
}

export const exactly = (count: number): Bounds => ({ min: count, max: count });
export const upTo = (max: number | null): Bounds => ({ min: 0, max });
export const ZERO: Bounds = exactly(0);

/** Beyond this, numbers are not exact, so they count as unbounded. */
const safe = (value: number): number | null => (Number.isSafeInteger(value) ? value : null);

export const plus = (one: Bounds, other: Bounds): Bounds => ({
  min: Math.min(one.min + other.min, Number.MAX_SAFE_INTEGER),
  max: one.max === null || other.max === null ? null : safe(one.max + other.max),
});

export const times = (one: Bounds, other: Bounds): Bounds => ({
  min: Math.min(one.min * other.min, Number.MAX_SAFE_INTEGER),
  max:
    one.max === 0 || other.max === 0
      ? 0
      : one.max === null || other.max === null
        ? null
        : safe(one.max * other.max),
});

export const total = (all: Iterable<Bounds>): Bounds => [...all].reduce(plus, ZERO);
