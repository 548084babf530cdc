/** While the workspace's stream is open, polling only catches what no frame reports. */
const WHILE_LIVE_MS = 60_000;

let live = false;

/** Records whether the workspace's stream is open. */
export function setStreamLive(now: boolean): void {
  live = now;
}

/** How often to poll a query that the stream keeps up to date, in ms. `everyMs` applies while the stream is broken. */
export const pollMs = (everyMs: number): number =>
  live ? Math.max(everyMs, WHILE_LIVE_MS) : everyMs;
