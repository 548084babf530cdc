import { Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { words } from '#console/src/messages/en/words.ts';
import { audit as text } from '#console/src/messages/en/governance/audit.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { LoadMore } from '#console/src/parts/data/load-more.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { Page, Section } from '#console/src/parts/page.tsx';
import { RowTable } from '#console/src/parts/data/row-table.tsx';
import { FoldedFilters } from '#console/src/parts/data/folded-filters.tsx';
import { auditQuery } from '#console/src/queries/audit.ts';
import { AuditChain } from './audit-chain.tsx';
import { AuditFilters } from './audit-filters.tsx';
import { AuditRow } from './audit-row.tsx';

const route = getRouteApi('/inside/audit');

/** Who changed what, and whether the log is intact. */
export function AuditPage() {
  const filter = route.useSearch();
  const log = useInfiniteQuery(auditQuery(filter));
  const inUse = Object.values(filter).filter(Boolean).length;
  return (
    <Page title={text.title} about={text.about}>
      <AuditChain />
      <Section title={text.entries}>
        <FoldedFilters inUse={inUse}>
          <AuditFilters />
        </FoldedFilters>
        <Loaded query={log}>
          {({ entries, total }) =>
            entries.length === 0 ? (
              <Empty {...(inUse === 0 ? text.empty : text.noMatch)} />
            ) : (
              <>
                <Text size="sm" c="dimmed" role="status">
                  {text.shown(countText(entries.length), countText(total))}
                </Text>
                <RowTable
                  label={text.table}
                  columns={[words.time, text.actor, text.action, text.target, text.details]}
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
