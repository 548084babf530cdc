import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Graph, Workflow } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/action.ts';
import { confirm } from '../../parts/confirm.tsx';
import { workflowsKey } from '../../queries/workflows.ts';

export interface Saving {
  unsaved: boolean;
  pending: boolean;
  save: () => void;
  /** Says that somebody else has saved, when they have. */
  overtaken: ReactNode;
}

/**
 * Saves a draft as the next version. Looks first whether somebody else has saved since the draft was loaded, and asks
 * then. `workflow` is what is known of it now, `load` begins anew with another graph.
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
        consequence: `Somebody saved version ${version} after you began with version ${base.version}. Yours becomes the newest; theirs stays in the list of versions.`,
        confirmLabel: 'Save mine',
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
                  title: `Take version ${workflow.version}?`,
                  consequence: 'Your changes are dropped.',
                  confirmLabel: 'Drop mine',
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
    <Alert color="yellow" role="status" title="Somebody else has saved">
      <Stack gap="xs">
        <Text size="sm">
          You began with version {mine}; the newest is version {theirs}. Saving yours makes another
          version and drops nothing.
        </Text>
        <Group>
          <Button size="compact-sm" variant="default" onClick={onTake}>
            Take version {theirs}
          </Button>
        </Group>
      </Stack>
    </Alert>
  );
}
