import { Text } from '@mantine/core';
import { deltaText } from './compared.ts';

/** How much slower or dearer the newer run is, in red, or less, in green. */
export function Delta({
  older,
  newer,
  text,
}: {
  older: number | null | undefined;
  newer: number | null | undefined;
  text: (size: number) => string;
}) {
  const delta = deltaText(older, newer, text);
  if (delta === undefined) return null;
  const more = (newer ?? 0) > (older ?? 0);
  return (
    <Text
      span
      inherit
      c={
        more
          ? 'var(--mantine-color-danger-light-color)'
          : 'var(--mantine-color-success-light-color)'
      }
    >
      {delta}
    </Text>
  );
}
