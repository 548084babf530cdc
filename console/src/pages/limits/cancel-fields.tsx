import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { WorkflowLimits } from '#client/index.ts';
import { limitsForm as text } from '#console/src/messages/en/workflows/limits.ts';
import { Message } from '#console/src/messages/message.tsx';
import { RemoveButton } from '#console/src/parts/forms/remove-button.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';

/** As the form has it: an empty match is none. */
export interface CancelRow {
  event: string;
  match: string;
}

const MOST_EVENTS = 10;

/** The events that cancel runs of a workflow. */
export function CancelFields({
  rows,
  failed,
  onChange,
}: {
  rows: readonly CancelRow[];
  failed: WorkflowLimits['last_failed_match'];
  onChange: (rows: CancelRow[]) => void;
}) {
  const change = (at: number, part: Partial<CancelRow>): void =>
    onChange(rows.map((row, each) => (each === at ? { ...row, ...part } : row)));
  return (
    <Stack gap="xs" role="group" aria-label={text.cancelOn}>
      <div>
        <Text size="sm" fw={500}>
          {text.cancelOn}
        </Text>
        <Dimmed size="xs">{text.cancelOnAbout}</Dimmed>
      </div>
      {rows.map((row, at) => (
        <Group key={at} gap="xs" align="end" wrap="nowrap">
          <TextInput
            label={text.cancelEvent(at + 1)}
            maxLength={100}
            value={row.event}
            onChange={({ currentTarget: { value: event } }) => change(at, { event })}
          />
          <TextInput
            label={text.cancelMatch(at + 1)}
            placeholder={text.cancelMatchExample}
            maxLength={2_000}
            flex={1}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            value={row.match}
            onChange={({ currentTarget: { value: match } }) => change(at, { match })}
          />
          <RemoveButton
            label={text.removeCancel(at + 1)}
            onClick={() => onChange(rows.filter((_row, each) => each !== at))}
          />
        </Group>
      ))}
      {rows.length < MOST_EVENTS && (
        <Button
          variant="default"
          size="xs"
          w="fit-content"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => onChange([...rows, { event: '', match: '' }])}
        >
          {text.addCancel}
        </Button>
      )}
      {failed !== null && (
        <Text size="sm" c="var(--mantine-color-error)" component="div">
          <Message
            text={text.failedMatch}
            values={{
              when: <When at={failed.at} ago />,
              reason: <UserText>{failed.reason}</UserText>,
            }}
          />{' '}
          <TextLink to="/events/$eventId" params={{ eventId: failed.event_id }} underline="always">
            {text.showEvent}
          </TextLink>
        </Text>
      )}
    </Stack>
  );
}
