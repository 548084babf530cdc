/** The allowed length of a new password. Separate from the schemas, so that forms can use it without loading those. */
export const MIN_PASSWORD_LENGTH = 10;
/** Limits the cost of hashing; no one types more. */
export const MAX_PASSWORD_LENGTH = 256;
