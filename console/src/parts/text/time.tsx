import { Text, Tooltip } from '@mantine/core';
import { useNow } from './now.ts';
import { agoText, timeText } from './times.ts';

/** A time in the viewer's zone, with UTC on hover or focus. `ago` shows it relative to now, kept current. */
export function When({ at, ago = false }: { at: string; ago?: boolean }) {
  const now = useNow();
  const text = timeText(at);
  const shown = ago ? agoText(Date.parse(at) - now) : text;
  const hint = ago ? `${text} (${at})` : at;
  return (
    <Tooltip label={hint} events={{ hover: true, focus: true, touch: true }}>
      <Text component="time" dateTime={at} inherit tabIndex={0} span>
        {shown}
      </Text>
    </Tooltip>
  );
}
