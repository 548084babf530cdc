const LOOKS_LIKE_A_TIME = /^[+-]?\d{4,6}-\d\d-\d\d[T ]\d/;
export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The places of all times in an answer that are in another form than that of every time, with what is there. */
export function oddTimes(value: unknown, path = ''): string[] {
  if (typeof value === 'string') {
    return LOOKS_LIKE_A_TIME.test(value) && !TIME.test(value) ? [`${path}: ${value}`] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => oddTimes(item, `${path}.${key}`));
}
