import { SimpleGrid, type SimpleGridProps, Skeleton, Stack, VisuallyHidden } from '@mantine/core';
import { page as text } from '#console/src/messages/en/parts/page.ts';

/** Placeholder of a page or a part of it. */
export function LoadingPage() {
  return (
    <Stack gap="md" role="status">
      <VisuallyHidden>{text.loading}</VisuallyHidden>
      <Skeleton h={32} w="40%" />
      <Skeleton h={120} />
      <Skeleton h={240} />
    </Stack>
  );
}

/** Placeholder of a table. */
export function LoadingRows({ rows = 5 }: { rows?: number }) {
  return (
    <Stack gap="xs" role="status">
      <VisuallyHidden>{text.loading}</VisuallyHidden>
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} h={36} />
      ))}
    </Stack>
  );
}

/** Placeholder of cards, with the height and number of columns of the actual cards. */
export function LoadingCards({
  cards = 3,
  height,
  cols = 1,
}: {
  cards?: number;
  /** The height of each card, in pixels. */
  height: number;
  cols?: SimpleGridProps['cols'];
}) {
  return (
    <SimpleGrid cols={cols} spacing="md" role="status">
      {Array.from({ length: cards }, (_, card) => (
        <Skeleton key={card} h={height}>
          {card === 0 && <VisuallyHidden>{text.loading}</VisuallyHidden>}
        </Skeleton>
      ))}
    </SimpleGrid>
  );
}
