/**
 * Starts to measure the processor time of this process, and returns a function that gives it in milliseconds. Bounds on
 * what a computation may cost are held to it: on a busy machine elapsed time is that of others.
 */
export function processorTime(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
}
