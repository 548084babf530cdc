import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Source } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { sourceList as text } from '#console/src/messages/en/data/sources.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { sourcesQuery } from '#console/src/queries/data.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { RowTable } from '#console/src/parts/data/row-table.tsx';
import { SourceForm } from './source-form.tsx';
import { SourceReportForm } from './source-report-form.tsx';
import { SourceRow } from './source-row.tsx';

type Open = { form: 'new' } | { form: 'edit' | 'report'; source: Source } | undefined;

const columns = [
  words.source,
  words.mode,
  text.health,
  text.lastCheck,
  text.checkFrequency,
  text.reliability,
];

/** The sources of records, with the latest check results. */
export function SourceList() {
  const sources = useQuery(sourcesQuery);
  const mayChange = useMay('manage_workspace');
  const [opened, setOpened] = useState<Open>();
  const close = (): void => setOpened(undefined);
  const create = (): void => setOpened({ form: 'new' });
  return (
    <Section
      title={text.title}
      actions={
        mayChange && (
          <Button variant="default" size="compact-sm" onClick={create}>
            {text.add}
          </Button>
        )
      }
    >
      <Loaded query={sources}>
        {(all) =>
          all.length === 0 ? (
            <Empty {...text.empty} missing={!mayChange && 'manage_workspace'}>
              {mayChange && <Button onClick={create}>{text.add}</Button>}
            </Empty>
          ) : (
            <RowTable
              label={text.title}
              columns={mayChange ? [...columns, { label: words.actions, hidden: true }] : columns}
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
      {opened?.form === 'new' && <SourceForm record={undefined} onClose={close} />}
      {opened?.form === 'edit' && <SourceForm record={opened.source} onClose={close} />}
      {opened?.form === 'report' && <SourceReportForm source={opened.source} onClose={close} />}
    </Section>
  );
}
