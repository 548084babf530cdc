import { Tag } from '../../parts/tag.tsx';

/** Whether records are live or demo data. Live keys read the former, test keys the latter. */
export function KindBadge({ isDemo }: { isDemo: boolean }) {
  return <Tag color={isDemo ? 'grape' : 'teal'}>{isDemo ? 'Demo' : 'Live'}</Tag>;
}
