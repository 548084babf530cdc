import { Badge, Group, NativeSelect, Stack, Table, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { AnswerOf, Workflow } from '#client/index.ts';
import { GraphView } from '#console/src/graph/graph-view.tsx';
import { words } from '#console/src/messages/en/words.ts';
import { shownVersion, versionsTab as text } from '#console/src/messages/en/workflows/versions.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadMore } from '#console/src/parts/data/load-more.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { versionQuery, versionsQuery } from '#console/src/queries/workflows.ts';
import { DiffView } from './diff-view.tsx';
import { RollBack } from './roll-back.tsx';
import type { VersionContent } from './version-diff.ts';
import { Row, RowTable } from '#console/src/parts/data/row-table.tsx';

type VersionLine = AnswerOf<'GET /api/workflows/{id}/versions'>['versions'][number];

const READ_EVERY_MS = 10_000;

/** All versions, the selected one, and its changes from another. */
export function VersionsTab({ workflow }: { workflow: Workflow }) {
  const query = useInfiniteQuery({
    ...versionsQuery(workflow.id),
    refetchInterval: READ_EVERY_MS,
  });
  const { version, against } = useSearch({ from: '/inside/workflows/$workflowId' });
  return (
    <Loaded query={query}>
      {(versions) => (
        <Stack gap="lg">
          <Section
            title={text.title}
            actions={
              workflow.version > 1 && (
                <RollBack workflow={workflow} version={workflow.version - 1} />
              )
            }
          >
            <VersionTable workflow={workflow} versions={versions} shown={version} />
            <LoadMore query={query} />
          </Section>
          {version !== undefined && (
            <ShownVersion
              workflow={workflow}
              known={versions.map((each) => each.version)}
              version={version}
              against={against}
            />
          )}
        </Stack>
      )}
    </Loaded>
  );
}

function VersionTable({
  workflow,
  versions,
  shown,
}: {
  workflow: Workflow;
  versions: readonly VersionLine[];
  shown: number | undefined;
}) {
  const params = { workflowId: workflow.id };
  const to = '/workflows/$workflowId';
  return (
    <RowTable
      label={text.label}
      minWidth={560}
      columns={[
        words.version,
        text.saved,
        text.author,
        text.note,
        { label: text.nodes, numbers: true },
        { label: text.edges, numbers: true },
        text.view,
      ]}
    >
      {versions.map(({ version, created_at: at, created_by_name: author, note, nodes, edges }) => (
        <Row key={version} aria-current={version === shown ? 'true' : undefined}>
          <Group gap="xs">
            {version}
            {version === workflow.version && (
              <Badge size="sm" variant="light" c="bright" tt="none">
                {' '}
                {text.latest}{' '}
              </Badge>
            )}
          </Group>
          <When at={at} ago />
          <Table.Td>
            {author === null ? text.unknownAuthor : <UserText>{author}</UserText>}
          </Table.Td>
          <Table.Td maw={320} style={{ overflowWrap: 'anywhere' }}>
            {note === null ? <Text c="dimmed">{text.noNote}</Text> : <UserText>{note}</UserText>}
          </Table.Td>
          <Table.Td className="numbers">{nodes}</Table.Td>
          <Table.Td className="numbers">{edges}</Table.Td>
          <Group gap="sm">
            <TextLink
              to={to}
              params={params}
              search={{ tab: 'versions', version }}
              size="sm"
              aria-label={text.graphOf(version)}
            >
              {words.graph}
            </TextLink>
            {version > 1 && (
              <TextLink
                to={to}
                params={params}
                search={{ tab: 'versions', version, against: version - 1 }}
                size="sm"
                aria-label={text.changesBetween(version - 1, version)}
              >
                {words.changes}
              </TextLink>
            )}
          </Group>
        </Row>
      ))}
    </RowTable>
  );
}

const titleOf = (version: number, against: number | undefined): string =>
  against === undefined ? shownVersion.title(version) : shownVersion.titleBetween(against, version);

function ShownVersion({
  workflow,
  known,
  version,
  against,
}: {
  workflow: Workflow;
  /** The versions that the list shows, newest first. */
  known: readonly number[];
  version: number;
  against: number | undefined;
}) {
  const navigate = useNavigate();
  const query = useQuery(versionQuery(workflow.id, version));
  const other = useQuery({
    ...versionQuery(workflow.id, against ?? version),
    enabled: against !== undefined,
  });
  const others = [...new Set([...known, ...(against === undefined ? [] : [against])])]
    .filter((each) => each !== version)
    .map((each) => ({ value: String(each), label: shownVersion.title(each) }));
  return (
    <Section
      title={titleOf(version, against)}
      actions={
        // The previous version has its button above.
        version !== workflow.version - 1 && <RollBack workflow={workflow} version={version} />
      }
    >
      {others.length > 0 && (
        <NativeSelect
          label={shownVersion.compareWith}
          maw={220}
          data={[{ value: '', label: shownVersion.nothing }, ...others]}
          value={against === undefined ? '' : String(against)}
          onChange={(event) =>
            void navigate({
              to: '/workflows/$workflowId',
              params: { workflowId: workflow.id },
              search: {
                tab: 'versions',
                version,
                against: Number(event.currentTarget.value) || undefined,
              },
            })
          }
        />
      )}
      <Loaded query={query}>
        {(shown) =>
          against === undefined ? (
            <OneVersion content={shown} />
          ) : (
            <Loaded query={other}>{(older) => <DiffView from={older} to={shown} />}</Loaded>
          )
        }
      </Loaded>
    </Section>
  );
}

function OneVersion({ content: { graph, input_schema: schema } }: { content: VersionContent }) {
  return (
    <>
      {graph.nodes.length === 0 ? (
        <Empty title={shownVersion.empty} />
      ) : (
        <>
          <GraphView graph={graph} height={380} />
          <JsonView value={graph} what={shownVersion.theGraph} />
        </>
      )}
      {schema !== null && (
        <>
          <Text size="sm" fw={600}>
            {shownVersion.inputSchema}
          </Text>
          <JsonView value={schema} what={shownVersion.theInputSchema} />
        </>
      )}
    </>
  );
}
