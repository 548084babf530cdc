/** The poll interval. npm and its shell end immediately when they are killed. */
const LOOK_MS = 500;

/**
 * Calls back once when the npm that started this process has ended. A `kill` of npm only ends npm and its shell, and
 * the system then gives this process another parent. Without npm, nothing is watched, because a shell may end and leave
 * its background jobs on purpose.
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
