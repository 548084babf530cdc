import { Group, Stack, Text } from '@mantine/core';
import { missingRun as text } from '#console/src/messages/en/runs/run.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { ButtonLink } from '#console/src/parts/links.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';

/** A run that was removed, belongs to another workspace, or never existed. */
export function MissingRun({ runId }: { runId: string }) {
  return (
    <Page title={text.title}>
      <Empty title={text.empty}>
        <Stack gap="xs" align="center" role="alert">
          <Text size="sm" className="pre">
            <UserText>{runId}</UserText>
          </Text>
          <Text c="dimmed">{text.about}</Text>
          <Group gap="xs" justify="center">
            <ButtonLink to="/runs" search={{}}>
              {text.showAll}
            </ButtonLink>
            <ButtonLink
              variant="default"
              to="/audit"
              search={{ target_type: 'run', target_id: runId }}
            >
              {text.searchAudit}
            </ButtonLink>
          </Group>
        </Stack>
      </Empty>
    </Page>
  );
}
