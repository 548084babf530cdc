import { Box, Stack, Text } from '@mantine/core';
import { type ReactNode, useLayoutEffect, useRef } from 'react';
import { conversation as texts } from '#console/src/messages/en/runs/conversation.ts';
import { Markdown, MOST_MARKDOWN } from '#console/src/parts/markdown/markdown.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { type LiveAnswer, tokensPerSecond } from '#console/src/queries/live-answers.ts';
import { MOST_HEIGHT, Said } from './bubble.tsx';

/** JSON and texts that are too long stay as they are. */
const isPlain = (text: string): boolean => text.length > MOST_MARKDOWN || /^\s*[[{]/.test(text);

/** A model's text, formatted. */
export function ModelText({ text }: { text: string }) {
  if (isPlain(text)) return <Said text={text} />;
  return (
    text !== '' && (
      <Box mah={MOST_HEIGHT} style={{ overflow: 'auto' }} tabIndex={0}>
        <Markdown text={text} />
      </Box>
    )
  );
}

/** An answer while it arrives, with the speed of its model. */
export function LiveText({ answer }: { answer: LiveAnswer }) {
  const { text } = answer;
  const speed = tokensPerSecond(answer);
  return (
    <Stack gap={4}>
      <Followed of={text}>
        {isPlain(text) ? (
          <Text className="pre" component="div" dir="auto" style={{ overflowWrap: 'anywhere' }}>
            <UserText>{text}</UserText>
          </Text>
        ) : (
          <Markdown text={text} />
        )}
      </Followed>
      <Dimmed size="xs">
        {speed === undefined ? texts.answering : texts.answeringAt(countText(Math.round(speed)))}
      </Dimmed>
    </Stack>
  );
}

/** How far from its end a text may be scrolled, in px, to follow it further. */
const NEAR_END = 24;

/** Shows the end of a growing text until the person scrolls up, and again once they are at its end. */
function Followed({ of, children }: { of: string; children: ReactNode }) {
  const frame = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    const box = frame.current;
    if (box !== null && follows.current) box.scrollTop = box.scrollHeight;
  }, [of]);
  return (
    <Box
      ref={frame}
      mah={MOST_HEIGHT}
      style={{ overflow: 'auto' }}
      tabIndex={0}
      aria-busy
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
      }}
    >
      {children}
    </Box>
  );
}
