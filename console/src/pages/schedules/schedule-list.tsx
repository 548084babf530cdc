import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { scheduleList as text } from '#console/src/messages/en/workflows/schedules.ts';
import { NewButton } from '#console/src/parts/forms/new-button.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { ButtonLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { schedulesQuery } from '#console/src/queries/schedules.ts';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import { ScheduleDialog } from './schedule-dialog.tsx';
import { ScheduleTable } from './schedule-table.tsx';

const READ_EVERY_MS = 10_000;

/** All schedules of the workspace. */
export function ScheduleListPage() {
  const query = useQuery({ ...schedulesQuery, refetchInterval: READ_EVERY_MS });
  const workflows = useQuery(workflowsQuery).data;
  const names = useMemo(
    () => new Map((workflows ?? []).map(({ id, name }) => [id, name])),
    [workflows],
  );
  const mayEdit = useMay('create_edit_workflows');
  const [creating, setCreating] = useState(false);
  const mayCreate = mayEdit && workflows !== undefined && workflows.length > 0;
  return (
    <Page
      title={text.title}
      about={text.about}
      actions={mayCreate && <NewButton onClick={() => setCreating(true)}>{text.new}</NewButton>}
    >
      {mayCreate && (
        <ScheduleDialog
          opened={creating}
          onClose={() => setCreating(false)}
          target={{ workflows }}
        />
      )}
      <Loaded query={query}>
        {(schedules) =>
          schedules.length === 0 ? (
            <Empty
              title={text.empty.title}
              about={mayEdit && !mayCreate ? text.empty.aboutWithoutWorkflows : text.empty.about}
              missing={!mayEdit && 'create_edit_workflows'}
            >
              {mayCreate && <Button onClick={() => setCreating(true)}>{text.empty.create}</Button>}
              {mayEdit && workflows?.length === 0 && (
                <ButtonLink to="/templates">{text.empty.browseTemplates}</ButtonLink>
              )}
            </Empty>
          ) : (
            <ScheduleTable schedules={schedules} workflowNames={names} />
          )
        }
      </Loaded>
    </Page>
  );
}
