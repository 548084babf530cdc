import { Skeleton, Stack, VisuallyHidden } from '@mantine/core';

/** Placeholder of a page or a part of it. */
export function LoadingPage() {
  return (
    <Stack gap="md" role="status">
      <VisuallyHidden>Loading</VisuallyHidden>
      <Skeleton h={32} w="40%" />
      <Skeleton h={120} />
      <Skeleton h={240} />
    </Stack>
  );
}

export function LoadingRows({ rows = 5 }: { rows?: number }) {
  return (
    <Stack gap="xs" role="status">
      <VisuallyHidden>Loading</VisuallyHidden>
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} h={36} />
      ))}
    </Stack>
  );
}
