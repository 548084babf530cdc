/** How long a new password may be. Apart from the schemas, so that forms can tell without loading those. */
export const MIN_PASSWORD_LENGTH = 10;
/** Bounds what is hashed; nobody types more. */
export const MAX_PASSWORD_LENGTH = 256;
