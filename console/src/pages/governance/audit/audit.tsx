import { Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Empty } from '../../../parts/empty.tsx';
import { LoadMore } from '../../../parts/data/load-more.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { countText } from '../../../parts/text/numbers.ts';
import { Page, Section } from '../../../parts/page.tsx';
import { RowTable } from '../../../parts/data/row-table.tsx';
import { auditQuery } from '../../../queries/audit.ts';
import { AuditChain } from './audit-chain.tsx';
import { AuditFilters } from './audit-filters.tsx';
import { AuditRow } from './audit-row.tsx';

const route = getRouteApi('/inside/audit');

/** Who changed what, and whether the log is intact. */
export function AuditPage() {
  const filter = route.useSearch();
  const log = useInfiniteQuery(auditQuery(filter));
  return (
    <Page
      title="Audit log"
      about="Every change is logged in the same transaction as the change itself."
    >
      <AuditChain />
      <Section title="Entries">
        <AuditFilters />
        <Loaded query={log}>
          {({ entries, total }) =>
            entries.length === 0 ? (
              <Empty title="No matching entries" />
            ) : (
              <>
                <Text size="sm" c="dimmed" role="status">
                  {countText(entries.length)} of {countText(total)} entries
                </Text>
                <RowTable
                  label="Audit entries"
                  columns={['Time', 'Actor', 'Action', 'Target', 'Details']}
                >
                  {entries.map((entry) => (
                    <AuditRow key={entry.id} entry={entry} />
                  ))}
                </RowTable>
                <LoadMore query={log} />
              </>
            )
          }
        </Loaded>
      </Section>
    </Page>
  );
}
