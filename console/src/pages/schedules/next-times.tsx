import { Box, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMemo } from 'react';
import { nextDue } from '#shared/values/cron.ts';
import { nextTimes as text } from '#console/src/messages/en/workflows/schedules.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { ownZone } from '#console/src/parts/text/times.ts';
import { cronText } from '#console/src/parts/text/cron-text.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

const SHOWN = 5;
const PAUSE_MS = 250;

/**
 * The next times of a cron, computed like in the service, but with the time zone rules of this browser. Shows an error
 * if the cron or time zone is invalid.
 */
export function NextTimes({ cron, timezone }: { cron: string; timezone: string }) {
  const [asked] = useDebouncedValue(`${timezone} ${cron}`, PAUSE_MS);
  const { times, inWords, zone } = useMemo(() => {
    const at = asked.indexOf(' ');
    const [zone, expression] = [asked.slice(0, at), asked.slice(at + 1)];
    return { times: nextTimes(expression, zone), inWords: cronText(expression), zone };
  }, [asked]);
  return (
    <Box aria-live="polite">
      {times !== undefined && inWords !== undefined && (
        <Text size="sm" mb="xs">
          {text.inWords(inWords, zone)}
        </Text>
      )}
      <Text size="sm" fw={500}>
        {text.title(ownZone())}
      </Text>
      {times === undefined ? (
        <Text size="sm" c="danger" role="alert">
          {text.invalid}
        </Text>
      ) : times.length === 0 ? (
        <Dimmed>{text.none}</Dimmed>
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

/** Undefined for an invalid cron or an unknown zone. */
function nextTimes(cron: string, timezone: string): string[] | undefined {
  const times: string[] = [];
  try {
    let next = nextDue({ cron, timezone }, Date.now());
    while (next !== undefined && times.length < SHOWN) {
      times.push(new Date(next).toISOString());
      next = nextDue({ cron, timezone }, next);
    }
    return times;
  } catch {
    return undefined;
  }
}
