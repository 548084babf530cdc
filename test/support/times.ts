const LOOKS_LIKE_A_TIME = /^[+-]?\d{4,6}-\d\d-\d\d[T ]\d/;
export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Names of fields that hold times. */
const NAMES_A_TIME = /(^|_)(at|since|until|start|end)$/;

/** All times in a response that do not have the standard format, each with its path and value. */
export function oddTimes(value: unknown, path = ''): string[] {
  if (typeof value === 'string' || typeof value === 'number') {
    const text = String(value);
    const isTime = LOOKS_LIKE_A_TIME.test(text) || NAMES_A_TIME.test(path.split('.').pop() ?? '');
    return isTime && !TIME.test(text) ? [`${path}: ${text}`] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => oddTimes(item, `${path}.${key}`));
}
