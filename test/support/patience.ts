/**
 * Time limits of tests are for what hangs, and are chosen on an idle machine. On a busy one, everything may take this
 * many times longer. What a test claims about speed is not a time limit, and does not change.
 */
const PATIENCE = 4;

/** A time limit that also holds on a busy machine, in ms. */
export const patiently = (ms: number): number => ms * PATIENCE;
