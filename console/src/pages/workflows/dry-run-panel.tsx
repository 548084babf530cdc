import { Alert, Box, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { DryRun, JsonObject, Workflow } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { dryRun } from '#console/src/messages/en/workflows/dry-run.ts';
import { Facts } from '#console/src/parts/data/facts.tsx';
import { describeError } from '#console/src/parts/text/describe-error.ts';
import { durationText } from '#console/src/parts/text/duration.ts';
import { countText, dollarsText } from '#console/src/parts/text/numbers.ts';
import { rangeText } from '#console/src/parts/text/range.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { dryRunQuery } from '#console/src/queries/dry-runs.ts';

const PAUSE_MS = 400;
/** The maximum number of nodes, hosts or approvers in a sentence. */
const NAMED = 5;

/** What the run would cost and need, and why it could be refused. It never prevents anyone from starting the run. */
export function DryRunPanel({
  workflow,
  input,
  version,
  draft,
}: {
  workflow: Pick<Workflow, 'id' | 'graph'>;
  input: JsonObject;
  /** Undefined: the current version. */
  version?: number | undefined;
  /** The tag of the saved draft, if the draft is run. */
  draft?: string | undefined;
}) {
  const [asked] = useDebouncedValue(JSON.stringify(input), PAUSE_MS);
  const query = useQuery(
    dryRunQuery(workflow.id, JSON.parse(asked) as JsonObject, { version, draft }),
  );
  return (
    <Box component="section" aria-label={dryRun.title} aria-live="polite">
      {query.isError ? (
        <Dimmed>
          {dryRun.noEstimate} {describeError(query.error)}
        </Dimmed>
      ) : query.data === undefined ? (
        <Dimmed>{dryRun.estimating}</Dimmed>
      ) : (
        <Estimate report={query.data} nameOf={namesIn(workflow)} />
      )}
    </Box>
  );
}

type Names = (nodeId: string) => string;

/** The labels of the nodes as displayed. */
function namesIn({ graph }: Pick<Workflow, 'graph'>): Names {
  const labels = new Map(
    (graph.nodes as { id?: unknown; label?: unknown }[]).map(({ id, label }) => [id, label]),
  );
  return (nodeId) => {
    const label = labels.get(nodeId);
    return typeof label === 'string' && label !== '' ? label : nodeId;
  };
}

function Estimate({ report, nameOf }: { report: DryRun; nameOf: Names }) {
  const problems = [
    ...problemsOf(report, nameOf),
    ...report.warnings.map(({ message }) => message),
  ];
  const notes = notesOf(report, nameOf);
  return (
    <Stack gap="xs">
      <Facts
        of={[
          [words.cost, rangeText(report.cost_usd, dollarsText)],
          [words.duration, rangeText(report.duration_ms, durationText)],
          [words.steps, stepsText(report)],
        ]}
      />
      {problems.length > 0 && (
        <Alert color="caution">
          <Sentences texts={problems} />
        </Alert>
      )}
      {notes.length > 0 && <Sentences color="dimmed" texts={notes} />}
    </Stack>
  );
}

function Sentences({ color, texts }: { color?: string; texts: readonly string[] }) {
  return (
    <Box component="ul" m={0} pl="md">
      {texts.map((text) => (
        <Text key={text} component="li" size="sm" c={color}>
          {text}
        </Text>
      ))}
    </Box>
  );
}

function stepsText({ nodes }: DryRun): string {
  const sum = nodes.reduce(
    (all, { executions: { min, max } }) => ({
      min: all.min + min,
      max: all.max === null || max === null ? null : all.max + max,
    }),
    { min: 0, max: 0 as number | null },
  );
  return rangeText(sum, countText);
}

/** What would keep the run, or part of it, from working at present. */
function problemsOf({ nodes, budgets, connections }: DryRun, nameOf: Names): string[] {
  const unsigned = connections
    .filter(({ status }) => status !== null && status !== 'connected')
    .map(({ node_id, name, account }) =>
      account === 'workspace'
        ? dryRun.noOneSignedIn(nameOf(node_id), name)
        : dryRun.notSignedIn(nameOf(node_id), name),
    );
  const blocked = nodes.flatMap(({ node_id, verdicts }) =>
    verdicts
      .filter(({ decision }) => decision === 'blocked')
      .map(({ reason }) => dryRun.blocked(nameOf(node_id), reason)),
  );
  const full = budgets
    .filter(({ fits }) => !fits)
    .map(({ name, asked_usd: asked, available_usd: available }) =>
      asked === 0
        ? dryRun.budgetIsFull(name, dollarsText(available))
        : dryRun.budgetHasNoRoomFor(name, dollarsText(asked), dollarsText(available)),
    );
  return [
    ...full,
    ...blocked.slice(0, NAMED),
    ...more(blocked.length, dryRun.moreDecisions),
    ...unsigned.slice(0, NAMED),
    ...more(unsigned.length, dryRun.moreConnections),
  ];
}

function notesOf(report: DryRun, nameOf: Names): string[] {
  const { unbounded, gates, nodes, hosts, secrets } = report;
  const redacted = nodes.filter(({ verdicts }) =>
    verdicts.some(({ decision }) => decision === 'redacted'),
  );
  const asks = gates.map((gate) => gateNote(gate, nameOf(gate.node_id)));
  return [
    ...(unbounded.length === 0 ? [] : [dryRun.unlimited(named(unbounded, nameOf))]),
    ...(redacted.length === 0
      ? []
      : [dryRun.redacted(named(redacted, ({ node_id }) => nameOf(node_id)))]),
    ...asks.slice(0, NAMED),
    ...more(asks.length, dryRun.moreGates),
    ...(hosts.length === 0 ? [] : [dryRun.calls(named(hosts, hostText))]),
    ...(secrets.length === 0 ? [] : [dryRun.usesSecrets(named(secrets, String))]),
    ...accountsOf(report),
  ];
}

/** The connections that it uses, by whose account. */
const accountsOf = ({ connections }: DryRun): string[] =>
  (
    [
      ['starter', dryRun.usesOwnAccounts],
      ['workspace', dryRun.usesAccounts],
      ['approver', dryRun.usesApprovers],
    ] as const
  ).flatMap(([whose, sentence]) => {
    const used = connections.filter(({ account }) => account === whose);
    const names = [...new Set(used.map(({ name }) => name))];
    return names.length === 0 ? [] : [sentence(named(names, String))];
  });

function gateNote({ workflow, approvers }: DryRun['gates'][number], node: string): string {
  if (approvers.length === 0) {
    return workflow === null
      ? dryRun.canWaitForNoOne(node)
      : dryRun.canWaitForNoOneIn(node, workflow.name);
  }
  const who = named(approvers, ({ name }) => name);
  return workflow === null ? dryRun.canWait(node, who) : dryRun.canWaitIn(node, workflow.name, who);
}

const hostText = (host: string): string => (host === 'at_run_time' ? dryRun.hostsAtRunTime : host);

function named<Item>(items: readonly Item[], name: (item: Item) => string): string {
  const shown = items.slice(0, NAMED).map(name).join(', ');
  return items.length > NAMED ? dryRun.namesAndMore(shown, countText(items.length - NAMED)) : shown;
}

const more = (count: number, sentence: (more: number) => string): string[] =>
  count > NAMED ? [sentence(count - NAMED)] : [];
