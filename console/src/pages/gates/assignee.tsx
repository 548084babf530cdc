import { Group, NativeSelect, Text } from '@mantine/core';
import { useId } from 'react';
import type { Gate } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { assignee as texts } from '#console/src/messages/en/approvals.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { useIdentity, useMay } from '#console/src/queries/identity.ts';
import { runsKey } from '#console/src/queries/runs.ts';

/** Who is expected to decide an open gate. People who can decide gates can choose someone who can decide this one. */
export function Assignee({ gate }: { gate: Gate }) {
  const id = useId();
  const { id: own } = useIdentity();
  const assign = useAction(
    (memberId: string | null) =>
      api().assignGate(gate.run_id, memberId, { stepKey: gate.step_key }),
    { changes: [runsKey] },
  );
  const { assignee, eligible_members: eligible } = gate;
  if (!useMay('approve_gates')) {
    return assignee === null ? null : (
      <Text size="sm">
        <Message text={texts.assignedTo} values={{ name: assignee.name }} />
      </Text>
    );
  }
  const listed = eligible.some((member) => member.id === assignee?.id);
  const members = assignee === null || listed ? eligible : [...eligible, assignee];
  const shown = assign.isPending ? assign.variables : (assignee?.id ?? null);
  return (
    <Group gap="xs" title={texts.about}>
      <Text component="label" htmlFor={id} size="xs" c="dimmed">
        {texts.label}
      </Text>
      <NativeSelect
        id={id}
        size="xs"
        value={shown ?? ''}
        disabled={assign.isPending}
        onChange={({ currentTarget: { value } }) => assign.mutate(value === '' ? null : value)}
        data={[
          { value: '', label: texts.noOne },
          ...members.map((member) => ({
            value: member.id,
            label: member.id === own ? texts.you(member.name) : member.name,
          })),
        ]}
      />
    </Group>
  );
}
