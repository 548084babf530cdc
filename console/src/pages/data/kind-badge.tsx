import { kindBadge as text } from '#console/src/messages/en/data/data.ts';
import { Tag } from '#console/src/parts/tag.tsx';

/** Whether records are live or demo. Live keys read live records, test keys demo records. */
export function KindBadge({ isDemo }: { isDemo: boolean }) {
  return <Tag color={isDemo ? 'trial' : 'success'}>{isDemo ? text.demo : text.live}</Tag>;
}
