import type { AuditEntry } from '#client/index.ts';
import { RunLink, TextLink, WorkflowLink } from './links.tsx';
import { targetText } from './text/audit-texts.ts';
import { UserText } from './text/user-text.tsx';

type Targeted = Pick<AuditEntry, 'target_type' | 'target_id' | 'target_name'>;

/** The target of an action, as a link if it has a page. It may no longer exist. */
export const AuditTarget = ({ entry }: { entry: Targeted }) => (
  <>
    {targetText(entry.target_type)} <Target entry={entry} />
  </>
);

function Target({ entry: { target_type, target_id, target_name } }: { entry: Targeted }) {
  const id = (
    <span title={target_id}>
      <UserText>{target_name ?? target_id}</UserText>
    </span>
  );
  if (target_type === 'run') {
    return (
      <RunLink run={target_id} size="sm">
        {id}
      </RunLink>
    );
  }
  if (target_type === 'workflow') {
    return (
      <WorkflowLink workflow={target_id} size="sm">
        {id}
      </WorkflowLink>
    );
  }
  if (target_type === 'member') {
    return (
      <TextLink size="sm" to="/members/$memberId" params={{ memberId: target_id }}>
        {id}
      </TextLink>
    );
  }
  return id;
}
