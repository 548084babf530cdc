import { Box, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { nextTimes as text } from '../../../messages/en/workflows/schedules.ts';
import { When } from '../../../parts/text/time.tsx';

const SHOWN = 5;
const PAUSE_MS = 250;

/**
 * The next times of a cron, as computed by this browser; at clock changes, the times of the service apply. Shows an
 * error if the cron or the time zone is not valid.
 */
export function NextTimes({ cron, timezone }: { cron: string; timezone: string }) {
  const [asked] = useDebouncedValue(`${timezone} ${cron}`, PAUSE_MS);
  const [times, setTimes] = useState<readonly string[] | undefined>([]);
  useEffect(() => {
    const at = asked.indexOf(' ');
    let wanted = true;
    nextTimes(asked.slice(at + 1), asked.slice(0, at)).then(
      (next) => wanted && setTimes(next),
      () => wanted && setTimes(undefined),
    );
    return () => {
      wanted = false;
    };
  }, [asked]);
  return (
    <Box aria-live="polite">
      <Text size="sm" fw={500}>
        {text.title}
      </Text>
      {times === undefined ? (
        <Text size="sm" c="danger" role="alert">
          {text.invalid}
        </Text>
      ) : times.length === 0 ? (
        <Text size="sm" c="dimmed">
          {text.none}
        </Text>
      ) : (
        <Box component="ul" m={0} pl="md">
          {times.map((time) => (
            <Text key={time} size="sm" component="li">
              <When at={time} />
            </Text>
          ))}
        </Box>
      )}
    </Box>
  );
}

async function nextTimes(cron: string, timezone: string): Promise<string[]> {
  const { Cron } = await import('croner');
  const runs = new Cron(cron.trim(), { mode: '5-part', timezone }).nextRuns(SHOWN);
  return runs.map((run) => run.toISOString());
}
