import cronstrue from 'cronstrue';

/** When a cron is due, in words: `At 09:00, Monday through Friday`. Undefined for an invalid one. */
export function cronText(cron: string): string | undefined {
  try {
    return cronstrue.toString(cron.trim(), { use24HourTimeFormat: true });
  } catch {
    return undefined;
  }
}
