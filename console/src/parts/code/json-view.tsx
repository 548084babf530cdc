import { Box, Button, Code, Group } from '@mantine/core';
import { useMemo, useState } from 'react';
import { words } from '#console/src/messages/en/words.ts';
import { code } from '#console/src/messages/en/parts/code.ts';
import { countText } from '#console/src/parts/text/numbers.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { Copy } from './copy.tsx';

/** Longer text is only rendered on request, so that the page stays fast for any tool output. */
const SHOWN_CHARACTERS = 4_000;
/** The maximum that a browser lays out without blocking for a second. */
const MOST_CHARACTERS = 200_000;

/** Any JSON as text, never as markup; a string is shown without quotes. */
export function JsonView({ value, what = code.theValue }: { value: unknown; what?: string }) {
  const text = useMemo(
    () => (typeof value === 'string' ? value : JSON.stringify(value ?? null, null, 2)),
    [value],
  );
  const [whole, setWhole] = useState(false);
  const bound = whole ? MOST_CHARACTERS : SHOWN_CHARACTERS;
  const cut = text.length > bound;
  return (
    <Box pos="relative">
      <Code
        block
        className="pre user-text"
        dir="auto"
        mah={whole ? 600 : 320}
        // Space for the copy button.
        style={{ overflow: 'auto', paddingRight: 40 }}
        tabIndex={0}
        aria-label={what}
      >
        {cut ? text.slice(0, bound) : text}
      </Code>
      <Box pos="absolute" top={6} right={6}>
        <Copy text={text} what={what} />
      </Box>
      {cut && (
        <Group gap="xs" mt={4}>
          <Dimmed size="xs">{code.shown(countText(bound), countText(text.length))}</Dimmed>
          {!whole && (
            <Button size="compact-xs" variant="subtle" onClick={() => setWhole(true)}>
              {words.showMore}
            </Button>
          )}
        </Group>
      )}
    </Box>
  );
}
