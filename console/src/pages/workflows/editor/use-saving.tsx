import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Graph, JsonObject, Workflow } from '../../../../../client/index.ts';
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

/** What the editor edits, and a version consists of. */
export interface Content {
  graph: Graph;
  inputSchema: JsonObject | null;
}

const contentOf = ({ graph, input_schema: inputSchema }: Workflow): Content => ({
  graph,
  inputSchema,
});

/**
 * Saves a draft as the next version. Asks first if another member has saved since the draft was loaded. `workflow` is
 * the last known state; `load` starts over with another content.
 */
export function useSaving(
  workflow: Workflow,
  content: Content,
  load: (content: Content) => void,
): Saving {
  const [base, setBase] = useState({ version: workflow.version, ...contentOf(workflow) });
  const unsaved = content.graph !== base.graph || content.inputSchema !== base.inputSchema;
  const put = useAction(
    ({ graph, inputSchema }: Content) =>
      api().updateWorkflow(workflow.id, { graph, input_schema: inputSchema }),
    {
      changes: [workflowsKey],
      done: ({ version }) => `Saved as version ${version}`,
      onDone: ({ version }, saved) => setBase({ version, ...saved }),
    },
  );
  const look = useAction((_next: Content) => api().getWorkflow(workflow.id), {
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
    load(contentOf(workflow));
    setBase({ version: workflow.version, ...contentOf(workflow) });
  };
  return {
    unsaved,
    pending,
    save: () => {
      if (unsaved && !pending) look.mutate(content);
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
