import { Paper, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { waitingGates as text } from '#console/src/messages/en/overview.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { ItemLink, TextLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingCards } from '#console/src/parts/loading.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { useNow } from '#console/src/parts/text/now.ts';
import { stepOf } from '#console/src/pages/gates/chosen.ts';
import { approvalsQuery } from '#console/src/queries/runs.ts';

const SHOWN = 5;

/** The gates that have waited longest. The frame around the page refreshes them. */
export function WaitingGates() {
  const query = useInfiniteQuery(approvalsQuery());
  const now = useNow();
  return (
    <Section
      title={text.title}
      actions={
        <Text size="sm">
          <TextLink to="/approvals">{text.all}</TextLink>
        </Text>
      }
    >
      <Loaded query={query} loading={<LoadingCards cards={1} height={90} />}>
        {(all) =>
          all.length === 0 ? (
            <Empty title={text.none} about={text.noneAbout} />
          ) : (
            <Paper withBorder component="nav" aria-label={text.label} className="divided">
              {all.slice(0, SHOWN).map((gate) => (
                <ItemLink
                  key={`${gate.run_id} ${gate.step_key}`}
                  to="/approvals/$runId/$nodeId"
                  params={{ runId: gate.run_id, nodeId: gate.node_id }}
                  search={{ step: stepOf(gate) }}
                  label={<UserText>{gate.title}</UserText>}
                  description={
                    <>
                      <UserText>{gate.workflow_name}</UserText>
                      {' · '}
                      {text.waitingFor(durationText(now - Date.parse(gate.since)))}
                    </>
                  }
                />
              ))}
            </Paper>
          )
        }
      </Loaded>
    </Section>
  );
}
