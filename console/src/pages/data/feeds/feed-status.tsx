import { sentenceCase } from '../../../parts/text/sentence-case.ts';
import { Tag } from '../../../parts/tag.tsx';
import type { MantineColor } from '@mantine/core';
import type { Feed } from '../../../../../client/index.ts';

const colours: Record<Feed['status'], MantineColor> = {
  active: 'teal',
  paused: 'gray',
  degraded: 'orange',
  archived: 'gray',
};

export const feedStatuses = (Object.keys(colours) as Feed['status'][]).map((value) => ({
  value,
  label: sentenceCase(value),
}));

export function FeedStatus({ status }: { status: Feed['status'] }) {
  return <Tag color={colours[status]}>{sentenceCase(status)}</Tag>;
}
