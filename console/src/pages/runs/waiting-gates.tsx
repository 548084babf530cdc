import { Alert, Stack, Text } from '@mantine/core';
import { IconHandStop } from '@tabler/icons-react';
import type { Run } from '../../../../client/index.ts';
import { Foreign } from '../../parts/foreign.tsx';
import { TextLink } from '../../parts/links.tsx';
import { When } from '../../parts/time.tsx';

/** The gates that the run waits at, and the way to decide them. */
export function WaitingGates({ run }: { run: Run }) {
  if (run.pending_gates.length === 0) return null;
  return run.pending_gates.map((gate) => (
    <Alert
      key={gate.step_key}
      color="yellow"
      icon={<IconHandStop size={18} aria-hidden />}
      title={<Foreign>{gate.label}</Foreign>}
    >
      <Stack gap="xs">
        <Text size="sm" className="pre">
          <Foreign>{gate.prompt}</Foreign>
        </Text>
        <Text size="xs">
          Waits since <When at={gate.since} ago />
        </Text>
        <TextLink
          to="/approvals/$runId/$nodeId"
          params={{ runId: run.id, nodeId: gate.node_id }}
          size="sm"
        >
          Decide this gate
        </TextLink>
      </Stack>
    </Alert>
  ));
}
