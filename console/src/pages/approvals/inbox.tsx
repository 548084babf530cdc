import { Grid, Paper, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useRef } from 'react';
import type { Approval } from '../../../../client/index.ts';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { LoadMore } from '../../parts/data/load-more.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { useShortcuts } from '../../parts/shortcuts.ts';
import { approvalsQuery } from '../../queries/runs.ts';
import { GateDetail } from './gate-detail.tsx';
import { GateList } from './gate-list.tsx';
import { ShortcutHelp } from './shortcut-help.tsx';
import { type Chosen, chosenIndex, stepOf } from './chosen.ts';
import { gateKey, useVanishedNotices } from './vanished.ts';

const POLL_MS = 5_000;
/** Minimum width to show the list and the gate side by side. */
const WIDE = '(min-width: 62em)';

export function InboxPage() {
  return <Inbox chosen={undefined} />;
}

/**
 * Pending approvals, beside the selected gate. On a narrow screen the gate comes first, then the list. The URL contains
 * the gate, so that it can be shared.
 */
export function Inbox({ chosen }: { chosen: Chosen | undefined }) {
  const query = useInfiniteQuery({ ...approvalsQuery, refetchInterval: POLL_MS });
  const waiting = query.data?.pages.flatMap((page) => page.approvals);
  const wide = useMediaQuery(WIDE, true, { getInitialValueInEffect: false });
  const { at, go, decided, keyed } = useMoves(waiting, chosen, wide);
  const first = waiting?.[0];
  useEffect(() => {
    // On a wide screen, a gate is always selected.
    if (wide && chosen === undefined && first !== undefined) go(first);
  }, [wide, chosen, first, go]);
  const nothing = waiting?.length === 0;
  const list = (
    <Loaded query={query}>
      {() =>
        nothing ? (
          <NoApprovals />
        ) : (
          <Stack gap="sm">
            <GateList gates={waiting ?? []} chosen={at} focusChosen={keyed} />
            <LoadMore query={query} />
          </Stack>
        )
      }
    </Loaded>
  );
  const detail = chosen !== undefined && (
    <Paper withBorder p={{ base: 'sm', sm: 'lg' }}>
      <GateDetail key={Object.values(chosen).join(' ')} {...chosen} onDecided={decided} />
    </Paper>
  );
  return (
    <Page
      title="Approvals"
      about="Runs waiting for a decision, longest wait first."
      actions={wide && !nothing && <ShortcutHelp />}
    >
      {detail === false ? (
        list
      ) : wide ? (
        <Grid gap="lg">
          <Grid.Col span={4}>{list}</Grid.Col>
          <Grid.Col span={8}>{detail}</Grid.Col>
        </Grid>
      ) : (
        <>
          {detail}
          <Section title="Pending approvals">{list}</Section>
        </>
      )}
    </Page>
  );
}

/** Moves through the list, by key and after a decision. */
function useMoves(waiting: Approval[] | undefined, chosen: Chosen | undefined, wide: boolean) {
  const navigate = useNavigate();
  /** Whether the focus must follow the selection. */
  const keyed = useRef(false);
  const own = useVanishedNotices(waiting);
  const go = useCallback(
    (gate: Approval) => {
      const { run_id: runId, node_id: nodeId } = gate;
      void navigate({
        to: '/approvals/$runId/$nodeId',
        params: { runId, nodeId },
        search: { step: stepOf(gate) },
        replace: true,
      });
    },
    [navigate],
  );
  const at = chosenIndex(waiting, chosen);
  const step = (by: number): void => {
    const next = waiting?.[at === -1 ? 0 : at + by];
    if (next === undefined) return;
    keyed.current = true;
    go(next);
  };
  useShortcuts({ j: () => step(1), k: () => step(-1) });
  const decided = (): void => {
    const gate = waiting?.[at];
    if (gate !== undefined) own.add(gateKey(gate));
    // On a phone the next gate would appear under the finger, so the gate shows its outcome instead.
    if (wide && waiting !== undefined && at !== -1) {
      const next = waiting[at + 1] ?? waiting[at - 1];
      keyed.current = true;
      if (next !== undefined) go(next);
    }
  };
  return { at, go, decided, keyed };
}

const NoApprovals = () => (
  <Empty title="No pending approvals">
    <Text size="sm" c="dimmed">
      Runs appear here when they reach a human gate, or a tool call that needs approval.
    </Text>
  </Empty>
);
