import { Badge, Box, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import { GraphView } from '#console/src/graph/graph-view.tsx';
import { diffView as text } from '#console/src/messages/en/workflows/versions.ts';
import { Message } from '#console/src/messages/message.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { ChangedPaths, changesOf } from '#console/src/parts/data/changed-paths.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import {
  type Fate,
  mergeVersions,
  type PartChange,
  schemaChange,
  type VersionContent,
} from './version-diff.ts';

const colours: Record<Fate, string> = { added: 'success', removed: 'danger', changed: 'warning' };

/** The maximum number of listed changes; the picture shows all of them. */
const SHOWN = 100;

/** The differences between two versions: those of the graphs in one picture, and all of them as JSON. */
export function DiffView({ from, to }: { from: VersionContent; to: VersionContent }) {
  const merged = useMemo(() => mergeVersions(from.graph, to.graph), [from, to]);
  const changes = useMemo(() => [...schemaChange(from, to), ...merged.changes], [from, to, merged]);
  const cards = useMemo(
    () =>
      new Map(
        [...merged.nodes].map(([id, fate]) => [
          id,
          { colour: colours[fate], mark: <FateMark fate={fate} />, spoken: text.fates[fate] },
        ]),
      ),
    [merged],
  );
  const cardOf = useCallback((id: string) => cards.get(id) ?? NOTHING, [cards]);
  const ends = useMemo(() => {
    const fates = new Map<string, boolean>();
    for (const [key, fate] of merged.edges) {
      const [source, target] = JSON.parse(key) as [string, string];
      fates.set(JSON.stringify([source, target]), fate === 'added');
    }
    return fates;
  }, [merged]);
  const takenEdge = useCallback(
    (source: string, target: string) => ends.get(JSON.stringify([source, target])),
    [ends],
  );
  if (changes.length === 0) return <Empty title={text.none} />;
  return (
    <Stack gap="md">
      <Group gap="xs">
        {(['added', 'removed', 'changed'] as const).map((fate) => (
          <Badge key={fate} color={colours[fate]} variant="light" c="bright" tt="none">
            {text.counts[fate](changes.filter((change) => change.fate === fate).length)}
          </Badge>
        ))}
        <Dimmed>{text.legend}</Dimmed>
      </Group>
      <GraphView
        label={text.graph}
        graph={merged.graph}
        cardOf={cardOf}
        takenEdge={takenEdge}
        height={420}
      />
      {changes.slice(0, SHOWN).map((change) => (
        <Change key={`${change.part} ${change.fate} ${change.name}`} change={change} />
      ))}
      {changes.length > SHOWN && <Dimmed>{text.more(changes.length - SHOWN)}</Dimmed>}
    </Stack>
  );
}

const NOTHING = {};

const FateMark = ({ fate }: { fate: Fate }) => (
  <Badge size="xs" variant="filled" autoContrast color={colours[fate]} tt="none">
    {text.fates[fate]}
  </Badge>
);

function Change({ change: { part, name, fate, before, after } }: { change: PartChange }) {
  return (
    <Box>
      <Group gap="xs" mb={4}>
        <FateMark fate={fate} />
        <Text size="sm" fw={600}>
          <Message text={text.parts[part]} values={{ name }} />
        </Text>
      </Group>
      {before !== undefined && after !== undefined && <ChangedPlaces {...{ before, after }} />}
      <SimpleGrid cols={{ base: 1, sm: fate === 'changed' ? 2 : 1 }} spacing="xs">
        {before !== undefined && <JsonView value={before} what={text.before(name)} />}
        {after !== undefined && <JsonView value={after} what={text.after(name)} />}
      </SimpleGrid>
    </Box>
  );
}

/** Where a part has changed, which a long JSON text would hide. */
function ChangedPlaces({ before, after }: { before: unknown; after: unknown }) {
  const changes = useMemo(() => changesOf(before, after), [before, after]);
  return (
    <Box mb={4}>
      <ChangedPaths changes={changes} />
    </Box>
  );
}
