/** Messages for times close to now. */
export const closeTimes = {
  soon: 'in a moment',
  justNow: 'just now',
} as const;

/** Durations in one unit, and in two. */
export const durations = {
  milliseconds: (count: string) => `${count} ms`,
  seconds: (count: string) => `${count} s`,
  minutes: (count: string) => `${count} min`,
  hours: (count: string) => `${count} h`,
  days: (count: string) => `${count} d`,
  both: (larger: string, smaller: string) => `${larger} ${smaller}`,
} as const;
