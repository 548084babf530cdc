/**
 * Starts measuring the processor time of this process, and returns a function that returns it in milliseconds. Limits
 * on computations use it: on a busy machine, elapsed time includes other processes.
 */
export function processorTime(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
}
