/** The sizes of a measurement differ by this factor. */
const FACTOR = 8;
const ROUNDS = 4;
/** In ms: what is below it says nothing, since some systems count processor time in steps of milliseconds. */
const LEAST_MS = 5;
/** What takes as long is measured once. */
const LONG_MS = 2_000;

/**
 * How the processor time of a computation grows with its size, on any machine: about 1 if it is linear, 8 if it is
 * quadratic, and 64 if it is cubic. Expect less than 3 of a linear computation, and less than 20 of a quadratic one.
 * Choose a size at which the computation takes some tens of ms, and a worse one some seconds: nothing interrupts it.
 *
 * It compares the computation with eight of an eighth of its size. `prepare` makes the input of a size, which is not
 * measured, and returns the computation. Each has a new input, and the fastest round counts, since other load only
 * adds time.
 */
export function growth(prepare: (size: number) => () => unknown, size: number): number {
  const smallSize = Math.max(1, Math.round(size / FACTOR));
  let [small, large] = [Infinity, Infinity];
  // The first round compiles the code.
  for (let round = 0; round <= ROUNDS; round += 1) {
    small = Math.min(small, processorMs(Array.from({ length: FACTOR }, () => prepare(smallSize))));
    large = Math.min(large, processorMs([prepare(size)]));
    if (large > LONG_MS) break;
  }
  return large / Math.max(small, LEAST_MS);
}

/** The processor time of this thread during these computations. */
function processorMs(computations: (() => unknown)[]): number {
  const before = process.threadCpuUsage();
  for (const compute of computations) compute();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
