import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Graph, Workflow } from '../../../../../client/index.ts';
import { api } from '../../../api.ts';
import { useAction } from '../../../parts/forms/action.ts';
import { confirm } from '../../../parts/forms/confirm.tsx';
import { workflowsKey } from '../../../queries/workflows.ts';

export interface Saving {
  unsaved: boolean;
  pending: boolean;
  save: () => void;
  /** A notice if another member has saved. */
  overtaken: ReactNode;
}

/**
 * Saves a draft as the next version. Asks first if another member has saved since the draft was loaded. `workflow` is
 * the last known state; `load` starts over with another graph.
 */
export function useSaving(workflow: Workflow, graph: Graph, load: (graph: Graph) => void): Saving {
  const [base, setBase] = useState({ version: workflow.version, graph: workflow.graph });
  const unsaved = graph !== base.graph;
  const put = useAction((next: Graph) => api().updateWorkflow(workflow.id, { graph: next }), {
    changes: [workflowsKey],
    done: ({ version }) => `Saved as version ${version}`,
    onDone: ({ version }, saved) => setBase({ version, graph: saved }),
  });
  const look = useAction((_next: Graph) => api().getWorkflow(workflow.id), {
    changes: [],
    onDone: ({ version }, next) => {
      if (version <= base.version) return put.mutate(next);
      confirm({
        title: `Save over version ${version}?`,
        consequence: `Someone saved version ${version} after you opened version ${base.version}. Your graph becomes the latest version. Theirs stays in the version list.`,
        confirmLabel: 'Save my version',
        onConfirm: () => put.mutate(next),
      });
    },
  });
  const pending = put.isPending || look.isPending;
  const take = (): void => {
    load(workflow.graph);
    setBase({ version: workflow.version, graph: workflow.graph });
  };
  return {
    unsaved,
    pending,
    save: () => {
      if (unsaved && !pending) look.mutate(graph);
    },
    overtaken:
      workflow.version > base.version && !pending ? (
        <Overtaken
          theirs={workflow.version}
          mine={base.version}
          onTake={() =>
            unsaved
              ? confirm({
                  title: `Load version ${workflow.version}?`,
                  consequence: 'You lose your unsaved changes.',
                  confirmLabel: 'Discard my changes',
                  onConfirm: take,
                })
              : take()
          }
        />
      ) : null,
  };
}

function Overtaken({ theirs, mine, onTake }: { theirs: number; mine: number; onTake: () => void }) {
  return (
    <Alert color="yellow" role="status" title="Someone else saved this workflow">
      <Stack gap="xs">
        <Text size="sm">
          You opened version {mine}. The latest is version {theirs}. If you save, your graph becomes
          a new version and theirs is kept.
        </Text>
        <Group>
          <Button size="compact-sm" variant="default" onClick={onTake}>
            Load version {theirs}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
