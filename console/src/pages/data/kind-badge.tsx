import { Tag } from '../../parts/tag.tsx';

/** Whether records are live or demo. Live keys read live records, test keys demo records. */
export function KindBadge({ isDemo }: { isDemo: boolean }) {
  return <Tag color={isDemo ? 'grape' : 'teal'}>{isDemo ? 'Demo' : 'Live'}</Tag>;
}
