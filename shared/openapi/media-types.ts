/** A media type without its parameters, in lower case. */
export const mediaTypeOf = (text: string): string =>
  (text.split(';')[0] ?? '').trim().toLowerCase();

export const isJsonType = (type: string): boolean =>
  /^(?:application|text)\/json$|^[^/]+\/[^/]+\+json$/.test(type);

export const FORM = 'application/x-www-form-urlencoded';
export const MULTIPART = 'multipart/form-data';
export const PLAIN = 'text/plain';
