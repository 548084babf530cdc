import { Button, Group, Skeleton, Tabs, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { lazyPart } from '#console/src/chunks.ts';
import type { Run, Step } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { runViews as text } from '#console/src/messages/en/runs/run.ts';
import { Message } from '#console/src/messages/message.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { runStepsQuery } from '#console/src/queries/runs.ts';
import { EventLog } from './event-log.tsx';
import type { Items } from './items.ts';
import { RunChecks, RunCheckpoints } from './run-results.tsx';
import { NodeCounts } from './steps/node-counts.tsx';
import { Trace } from './trace/trace.tsx';
import { type Selection, useView } from './use-selection.ts';

const RunGraph = lazyPart(() => import('./run-graph.tsx'), 'RunGraph');

interface RunViewsProps {
  run: Run;
  items: Items | undefined;
  /** The selected step, if it has started. */
  chosen: Step | undefined;
  selection: Selection;
  /** Whether the step is beside the views, where it follows the arrow keys. */
  wide: boolean;
}

/** The views of a run. They share one selection. The tree stays as the user left it while another view is open. */
export function RunViews({ run, items, chosen, selection, wide }: RunViewsProps) {
  const { view, show } = useView();
  const { step: key, select } = selection;
  return (
    <Tabs value={view} onChange={show} keepMounted={false} className="run-views">
      <Tabs.List>
        <Tabs.Tab value="steps">{words.steps}</Tabs.Tab>
        {run.step_counts !== null && <Tabs.Tab value="nodes">{text.nodes}</Tabs.Tab>}
        <Tabs.Tab value="graph">{words.graph}</Tabs.Tab>
        <Tabs.Tab value="log">{text.log}</Tabs.Tab>
        <Tabs.Tab value="checks">{words.checks}</Tabs.Tab>
        <Tabs.Tab value="checkpoints">{text.checkpoints}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="steps" keepMounted>
        <Cut run={run} show={() => show('nodes')} />
        <Trace {...{ run, items, select }} chosen={key} follows={wide} />
      </Tabs.Panel>
      <Tabs.Panel value="nodes">
        <NodeCounts run={run} items={items} chosen={key} select={select} />
      </Tabs.Panel>
      <Tabs.Panel value="graph">
        <Suspense fallback={<Skeleton className="run-graph" />}>
          <RunGraph {...{ run, items, chosen, selection }} />
        </Suspense>
      </Tabs.Panel>
      <Tabs.Panel value="log">
        <EventLog run={run} chosen={key} select={select} />
      </Tabs.Panel>
      <Tabs.Panel value="checks">
        <RunChecks run={run} />
      </Tabs.Panel>
      <Tabs.Panel value="checkpoints">
        <RunCheckpoints run={run} select={select} />
      </Tabs.Panel>
    </Tabs>
  );
}

/** Says that the tree does not have all steps, and where they are. */
function Cut({ run: { id, step_counts: counts, steps }, show }: { run: Run; show: () => void }) {
  const failed = useInfiniteQuery({
    ...runStepsQuery(id, { status: 'failed' }),
    enabled: counts !== null,
  });
  if (counts === null) return null;
  const all = counts.reduce((sum, { total }) => sum + total, 0);
  return (
    <Group gap="xs">
      <Text size="sm">
        <Message text={text.cut} values={{ shown: countText(steps.length), all: countText(all) }} />
      </Text>
      <Button size="compact-sm" variant="default" onClick={show}>
        {text.all}
      </Button>
      {failed.hasNextPage && (
        <Button
          size="compact-sm"
          variant="default"
          loading={failed.isFetchingNextPage}
          onClick={() => void failed.fetchNextPage()}
        >
          {text.moreFailed}
        </Button>
      )}
    </Group>
  );
}
