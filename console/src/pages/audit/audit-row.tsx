import { Button, Table } from '@mantine/core';
import { useState } from 'react';
import type { AuditEntry } from '#client/index.ts';
import { auditRow as text } from '#console/src/messages/en/governance/audit.ts';
import { AuditTarget } from '#console/src/parts/audit-target.tsx';
import { actionText } from '#console/src/parts/text/audit-texts.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { Row } from '#console/src/parts/data/row-table.tsx';

/** One entry, with its details on demand. */
export function AuditRow({ entry }: { entry: AuditEntry }) {
  const [opened, setOpened] = useState(false);
  const empty = Object.keys(entry.details).length === 0;
  return (
    <>
      <Row>
        <When at={entry.created_at} />
        <Actor entry={entry} />
        <span title={entry.action}>{actionText(entry.action)}</span>
        <Table.Td>
          <AuditTarget entry={entry} />
        </Table.Td>
        <Table.Td>
          {!empty && (
            <Button
              size="compact-xs"
              variant="subtle"
              aria-expanded={opened}
              aria-label={(opened ? text.hideDetails : text.showDetails)(actionText(entry.action))}
              onClick={() => setOpened(!opened)}
            >
              {opened ? text.hide : text.show}
            </Button>
          )}
        </Table.Td>
      </Row>
      {opened && (
        <Table.Tr>
          <Table.Td colSpan={5}>
            <JsonView value={entry.details} what={text.theDetails} />
          </Table.Td>
        </Table.Tr>
      )}
    </>
  );
}

function Actor({ entry: { actor_id, actor_name } }: { entry: AuditEntry }) {
  if (actor_name === null) return text.system;
  // A removed member has no page; the linked page reports that.
  if (actor_id === null) return <UserText>{actor_name}</UserText>;
  return (
    <TextLink size="sm" to="/members/$memberId" params={{ memberId: actor_id }}>
      <UserText>{actor_name}</UserText>
    </TextLink>
  );
}
