import { Affix, Box, Grid, Paper, Switch } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useRef } from 'react';
import type { Approval } from '#client/index.ts';
import { inbox as text } from '#console/src/messages/en/approvals.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { LoadedList } from '#console/src/parts/data/loaded-list.tsx';
import { Undo } from '#console/src/parts/gates/undo.tsx';
import {
  sendNow,
  undoDecision,
  useWaitingDecision,
} from '#console/src/parts/gates/waiting-decision.ts';
import { useKeptFocus } from '#console/src/parts/keep-focus.ts';
import { Page, Section } from '#console/src/parts/page.tsx';
import { useShortcuts } from '#console/src/parts/shortcuts.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { approvalsQuery } from '#console/src/queries/runs.ts';
import { pollMs } from '#console/src/queries/stream-state.ts';
import { GateDetail } from './gate-detail.tsx';
import { GateList } from './gate-list.tsx';
import { OwnSignIns } from './own-sign-ins.tsx';
import { ShortcutHelp } from './shortcut-help.tsx';
import { type Chosen, chosenIndex, mineSearch, stepOf } from './chosen.ts';
import { gateKey, useRemovedNotices } from './removed-gates.ts';

const POLL_MS = 5_000;
/** Minimum width to show the list and the gate side by side. */
const WIDE = '(min-width: 62em)';

const route = getRouteApi('/inside/approvals');

export function InboxPage() {
  const { mine = false } = route.useSearch();
  return <Inbox chosen={undefined} mine={mine} />;
}

/**
 * Pending approvals next to the selected gate. On a narrow screen, the gate comes first, then the list. The URL
 * contains the gate, so that it can be shared.
 */
export function Inbox({ chosen, mine }: { chosen: Chosen | undefined; mine: boolean }) {
  const query = useInfiniteQuery({
    ...approvalsQuery({ mine }),
    refetchInterval: () => pollMs(POLL_MS),
  });
  const waiting = query.data;
  const wide = useMediaQuery(WIDE, true, { getInitialValueInEffect: false });
  const { at, go, decided, undone, keyed } = useMoves(waiting, { chosen, mine }, wide);
  const first = waiting?.[0];
  useEffect(() => {
    // On a wide screen, a gate is always selected.
    if (wide && chosen === undefined && first !== undefined) go(first);
  }, [wide, chosen, first, go]);
  const place = useRef<HTMLDivElement>(null);
  useKeptFocus(place, chosen !== undefined);
  const list = (
    <LoadedList query={query} empty={<NoApprovals mine={mine} />}>
      {(gates) => <GateList gates={gates} mine={mine} chosen={at} focusChosen={keyed} />}
    </LoadedList>
  );
  const detail = chosen !== undefined && (
    <Paper withBorder p={{ base: 'sm', sm: 'lg' }} ref={place} tabIndex={-1}>
      <GateDetail
        key={Object.values(chosen).join(' ')}
        {...chosen}
        onDecided={decided}
        onUndo={undone}
      />
    </Paper>
  );
  return (
    <Page
      title={text.title}
      about={text.about}
      actions={<Actions mine={mine} keys={wide && waiting?.length !== 0} />}
    >
      <OwnSignIns />
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
          <Section title={text.pending}>{list}</Section>
        </>
      )}
      <UndoElsewhere chosen={chosen} />
    </Page>
  );
}

function Actions({ mine, keys }: { mine: boolean; keys: boolean }) {
  const navigate = useNavigate();
  return (
    <>
      <Switch
        label={text.mine}
        checked={mine}
        onChange={(event) =>
          void navigate({ to: '/approvals', search: mineSearch(event.currentTarget.checked) })
        }
      />
      {keys && <ShortcutHelp />}
    </>
  );
}

/** Moves through the list, by keyboard and after a decision. */
function useMoves(
  waiting: Approval[] | undefined,
  { chosen, mine }: { chosen: Chosen | undefined; mine: boolean },
  wide: boolean,
) {
  const navigate = useNavigate();
  /** Whether the focus must follow the selection. */
  const keyed = useRef(false);
  const own = useRemovedNotices(waiting);
  const go = useCallback(
    (gate: Approval) => {
      const { run_id: runId, node_id: nodeId } = gate;
      void navigate({
        to: '/approvals/$runId/$nodeId',
        params: { runId, nodeId },
        search: { step: stepOf(gate), ...mineSearch(mine) },
        replace: true,
      });
    },
    [navigate, mine],
  );
  const at = chosenIndex(waiting, chosen);
  const step = (by: number): void => {
    const next = waiting?.[at === -1 ? 0 : at + by];
    if (next === undefined) return;
    keyed.current = true;
    go(next);
  };
  useShortcuts({ j: () => step(1), k: () => step(-1), z: undoDecision });
  // Leaving the page sends the waiting decision.
  useEffect(() => () => sendNow(), []);
  const decided = (): void => {
    const gate = waiting?.[at];
    if (gate !== undefined) own.add(gateKey(gate));
    // On a phone, the next gate would appear under the finger, so the gate shows its outcome instead.
    if (wide && waiting !== undefined && at !== -1) {
      const next = waiting[at + 1] ?? waiting[at - 1];
      if (next === undefined) return;
      keyed.current = true;
      go(next);
    }
  };
  const undone = (): void => {
    const gate = waiting?.[at];
    if (gate === undefined) return;
    own.delete(gateKey(gate));
    keyed.current = true;
    go(gate);
  };
  return { at, go, decided, undone, keyed };
}

/** The decision that can still be undone, after the page has moved on to another gate. */
function UndoElsewhere({ chosen }: { chosen: Chosen | undefined }) {
  const decision = useWaitingDecision();
  if (decision === undefined) return null;
  const { runId, nodeId, step = decision.stepKey } = chosen ?? {};
  const isShown =
    runId === decision.runId && nodeId === decision.nodeId && step === decision.stepKey;
  if (isShown) return null;
  return (
    <Affix
      withinPortal={false}
      // Above the buttons of the gate on the screen.
      position={{ bottom: 80, left: 16, right: 16 }}
      style={{ pointerEvents: 'none' }}
    >
      <Box maw={480} mx="auto" style={{ pointerEvents: 'auto' }}>
        <Undo decision={decision} />
      </Box>
    </Affix>
  );
}

const NoApprovals = ({ mine }: { mine: boolean }) => (
  <Empty title={mine ? text.noneMine : text.none}>
    <Dimmed>{mine ? text.noneMineAbout : text.noneAbout}</Dimmed>
  </Empty>
);
