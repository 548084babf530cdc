import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Source } from '../../../../../client/index.ts';
import { Empty } from '../../../parts/empty.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { Section } from '../../../parts/page.tsx';
import { sourcesQuery } from '../../../queries/data.ts';
import { useMay } from '../../../queries/identity.ts';
import { RowTable } from '../../../parts/data/row-table.tsx';
import { SourceForm } from './source-form.tsx';
import { SourceReportForm } from './source-report-form.tsx';
import { SourceRow } from './source-row.tsx';

type Open = { form: 'new' } | { form: 'edit' | 'report'; source: Source } | undefined;

const columns = ['Source', 'Mode', 'Health', 'Last check', 'Check frequency', 'Reliability'];

/** The sources of records, with the latest check results. */
export function SourceList() {
  const sources = useQuery(sourcesQuery);
  const mayChange = useMay('manage_workspace');
  const [opened, setOpened] = useState<Open>();
  const close = (): void => setOpened(undefined);
  const create = (): void => setOpened({ form: 'new' });
  return (
    <Section
      title="Sources"
      actions={
        mayChange && (
          <Button variant="default" size="compact-sm" onClick={create}>
            Add source
          </Button>
        )
      }
    >
      <Loaded query={sources}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No sources yet">
              <Text size="sm" c="dimmed">
                A source is where records come from. Workflows and programs report the result of
                each check.
              </Text>
              {mayChange && <Button onClick={create}>Add source</Button>}
            </Empty>
          ) : (
            <RowTable
              label="Sources"
              columns={mayChange ? [...columns, { label: 'Actions', hidden: true }] : columns}
            >
              {all.map((source) => (
                <SourceRow
                  key={source.id}
                  source={source}
                  mayChange={mayChange}
                  onEdit={() => setOpened({ form: 'edit', source })}
                  onReport={() => setOpened({ form: 'report', source })}
                />
              ))}
            </RowTable>
          )
        }
      </Loaded>
      {opened?.form === 'new' && <SourceForm onClose={close} />}
      {opened?.form === 'edit' && <SourceForm source={opened.source} onClose={close} />}
      {opened?.form === 'report' && <SourceReportForm source={opened.source} onClose={close} />}
    </Section>
  );
}
