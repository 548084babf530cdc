import { Button, Collapse, Skeleton, Stack } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { Suspense } from 'react';
import { lazyPart } from '#console/src/chunks.ts';
import type { Run, Step } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { runGraph as text } from '#console/src/messages/en/runs/run.ts';
import type { Items } from './items.ts';
import type { Selection } from './use-selection.ts';

const MAP_HEIGHT = 'clamp(150px, 19vh, 260px)';

const RunGraph = lazyPart(() => import('./run-graph.tsx'), 'RunGraph');

/** The graph as a small map that follows the selection. The browser stores whether it is open. */
export function RunMap({
  run,
  items,
  chosen,
  selection,
}: {
  run: Run;
  items: Items | undefined;
  chosen: Step | undefined;
  selection: Selection;
}) {
  const [open, setOpen] = useLocalStorage({
    key: 'workflows.run-map',
    defaultValue: true,
    getInitialValueInEffect: false,
  });
  const Chevron = open ? IconChevronDown : IconChevronRight;
  return (
    <Stack gap={4} component="section" aria-label={text.map}>
      <div>
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          leftSection={<Chevron size={16} aria-hidden />}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
        >
          {words.graph}
        </Button>
      </div>
      <Collapse expanded={open}>
        {open && (
          <Suspense fallback={<Skeleton h={MAP_HEIGHT} />}>
            <RunGraph
              run={run}
              items={items}
              chosen={chosen}
              selection={selection}
              height={MAP_HEIGHT}
            />
          </Suspense>
        )}
      </Collapse>
    </Stack>
  );
}
