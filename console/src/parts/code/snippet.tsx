import { Box, Code, Group } from '@mantine/core';
import { Copy } from './copy.tsx';

/** A command or text to copy as a whole. */
export function Snippet({ text, what }: { text: string; what: string }) {
  return (
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <Box flex={1} miw={0}>
        <Code block tabIndex={0} aria-label={what}>
          {text}
        </Code>
      </Box>
      <Copy text={text} what={what} />
    </Group>
  );
}
