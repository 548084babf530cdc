import { Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

/** A part of the conversation, with a heading. */
export function Bubble({
  title,
  note,
  children,
}: {
  title: string;
  note?: string;
  children: ReactNode;
}) {
  return (
    <Paper withBorder p="sm" component="section" aria-label={title}>
      <Stack gap="xs">
        <div>
          <Title order={4} size="h6">
            {title}
          </Title>
          {note !== undefined && (
            <Dimmed size="xs">
              <UserText>{note}</UserText>
            </Dimmed>
          )}
        </div>
        {children}
      </Stack>
    </Paper>
  );
}

/** Longer texts scroll, so that the following turns stay close. */
export const MOST_HEIGHT = 360;

/** A text of a person or a model, unchanged and never as markup. */
export const Said = ({ text }: { text: string }) =>
  text === '' ? null : (
    <Text
      size="sm"
      className="pre"
      component="div"
      dir="auto"
      mah={MOST_HEIGHT}
      tabIndex={0}
      style={{ overflow: 'auto', whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
    >
      <UserText>{text}</UserText>
    </Text>
  );
