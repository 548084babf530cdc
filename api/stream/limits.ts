/** A reader that is this far behind is disconnected. It can reconnect and read the run again. */
export const MAX_BEHIND_BYTES = 1024 * 1024;
