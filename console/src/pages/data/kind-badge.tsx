import { Tag } from '../../parts/tag.tsx';

/** Whether records are real or made up, which decides which keys read them. */
export function KindBadge({ isDemo }: { isDemo: boolean }) {
  return <Tag color={isDemo ? 'grape' : 'teal'}>{isDemo ? 'made up' : 'real'}</Tag>;
}
