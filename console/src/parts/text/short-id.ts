const SHOWN = 6;

/** The end of an id, which differs the most. */
export const shortId = (id: string): string => id.slice(-SHOWN);
