import { Group, Text } from '@mantine/core';
import { IconFlask, IconPencil, IconPin } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { Run, Step } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { drawingOf } from '#console/src/graph/drawn.ts';
import { stepActions as text } from '#console/src/messages/en/runs/inspector.ts';
import { ModalButton } from '#console/src/parts/forms/modal-button.tsx';
import { ButtonLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { pinsKey } from '#console/src/queries/node-tests.ts';
import { draftQuery, workflowQuery } from '#console/src/queries/workflows.ts';
import { NodeTester } from '#console/src/pages/workflows/node-tests/node-tester.tsx';
import { ForkButton } from '#console/src/pages/runs/actions/fork.tsx';
import { nodeKeyOf } from '#console/src/pages/runs/steps/agent-steps.ts';

interface StepActionsProps {
  run: Run;
  step: Step;
}

/** What can be done with a step. Turns and calls have no node of their own. */
export function StepActions({ run, step }: StepActionsProps) {
  const mayRun = useMay('run_workflows');
  const mayEdit = useMay('create_edit_workflows');
  const ofNode = nodeKeyOf(step) === step.step_key;
  return (
    <Group gap="xs">
      <ForkButton run={run} step={step} />
      {ofNode && mayRun && <TestButton run={run} step={step} />}
      {ofNode && mayRun && step.status === 'success' && <PinButton run={run} step={step} />}
      {mayEdit && (
        <ButtonLink
          to="/workflows/$workflowId/edit"
          params={{ workflowId: run.workflow_id }}
          search={{ node: step.node_id, run: run.id, step: nodeKeyOf(step) }}
          size="compact-sm"
          variant="default"
          leftSection={<IconPencil size={14} aria-hidden />}
        >
          {text.editNode}
        </ButtonLink>
      )}
    </Group>
  );
}

/** Pins the output of the step, so that the member's tests and rehearsals use it for the node. */
function PinButton({ run, step }: StepActionsProps) {
  const pin = useAction(
    () => api().savePin(run.workflow_id, step.node_id, { run_id: run.id, step_key: step.step_key }),
    { changes: [pinsKey(run.workflow_id)], done: text.pinned },
  );
  return (
    <ActionButton size="compact-sm" action={pin} leftSection={<IconPin size={14} aria-hidden />}>
      {text.pin}
    </ActionButton>
  );
}

function TestButton(props: StepActionsProps) {
  return (
    <ModalButton
      size="compact-sm"
      leftSection={<IconFlask size={14} aria-hidden />}
      label={text.test}
      title={text.testTitle}
      width="lg"
    >
      {() => <TestForm {...props} />}
    </ModalButton>
  );
}

/** Tests the node as it is now (in the draft, if there is one) with the state that it had at this step. */
function TestForm({ run, step }: StepActionsProps) {
  const workflow = useQuery(workflowQuery(run.workflow_id));
  const draft = useQuery(draftQuery(run.workflow_id));
  return (
    <Loaded query={workflow}>
      {({ graph: published }) => (
        <Loaded query={draft}>
          {(saved) => {
            const { nodes } = drawingOf(saved?.graph ?? published);
            const node = nodes.find(({ id }) => id === step.node_id)?.node;
            if (node === undefined) {
              return <Text size="sm">{text.nodeMissing}</Text>;
            }
            return (
              <NodeTester
                workflowId={run.workflow_id}
                nodeId={step.node_id}
                node={node}
                draft={saved !== null}
                from={{ runId: run.id, stepKey: step.step_key }}
              />
            );
          }}
        </Loaded>
      )}
    </Loaded>
  );
}
