/** How often to look: npm and its shell are gone at once when they are killed. */
const LOOK_MS = 500;

/**
 * Calls back once when the npm that started this process is gone. A `kill` of npm ends npm and its shell only, and
 * the system then gives this process another parent. Started without npm nothing is watched: a shell may end and
 * leave its background jobs on purpose.
 */
export function whenStarterEnds(callback: () => void): void {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const starter = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === starter) return;
    clearInterval(look);
    callback();
  }, LOOK_MS);
  look.unref();
}
