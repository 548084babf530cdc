import { Group, Paper, Text } from '@mantine/core';
import { IconHourglass } from '@tabler/icons-react';
import type { Run } from '#client/index.ts';
import { queuedRun as text } from '#console/src/messages/en/workflows/limits.ts';
import { Message } from '#console/src/messages/message.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';

/** Where a run waits because of a limit of its workflow. */
export function QueuedNote({ run: { queued, workflow_id: workflow } }: { run: Run }) {
  if (queued === null) return null;
  const { position, length, key, until } = queued;
  const values = { position, length };
  const word = queued.for;
  return (
    <Paper withBorder px="md" py="xs" component="section" aria-label={text.label}>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <IconHourglass size={18} aria-hidden style={{ flexShrink: 0 }} />
        <Text size="sm" component="div">
          {key === '' ? (
            <Message text={text[word]} values={values} />
          ) : (
            <Message
              text={text[`${word}Key`]}
              values={{ ...values, key: <UserText>{key}</UserText> }}
            />
          )}{' '}
          {until !== null && <When at={until} />}{' '}
          <TextLink to="/queues" search={{ workflow }} underline="always">
            {text.show}
          </TextLink>
        </Text>
      </Group>
    </Paper>
  );
}
