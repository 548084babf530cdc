import { Text } from '@mantine/core';
import { deltaText } from './compared.ts';

/** How much slower or dearer the right run is, in red, or less, in green. */
export function Delta({
  left,
  right,
  text,
}: {
  left: number | null | undefined;
  right: number | null | undefined;
  text: (size: number) => string;
}) {
  const delta = deltaText(left, right, text);
  if (delta === undefined) return null;
  const more = (right ?? 0) > (left ?? 0);
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
