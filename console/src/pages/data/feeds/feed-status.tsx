import { feedStatus as text } from '#console/src/messages/en/data/feeds.ts';
import { Tag } from '#console/src/parts/tag.tsx';
import type { MantineColor } from '@mantine/core';
import type { Feed } from '#client/index.ts';

const colours: Record<Feed['status'], MantineColor> = {
  active: 'success',
  paused: 'gray',
  degraded: 'caution',
  archived: 'gray',
};

export const feedStatuses = (Object.keys(colours) as Feed['status'][]).map((value) => ({
  value,
  label: text[value],
}));

export function FeedStatus({ status }: { status: Feed['status'] }) {
  return <Tag color={colours[status]}>{text[status]}</Tag>;
}
