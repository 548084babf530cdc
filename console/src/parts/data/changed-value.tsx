import { Text, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import { changedValue as text } from '#console/src/messages/en/parts/data.ts';

/** Old and new value next to each other, distinguished by more than color. */
export function ChangedValue({ before, after }: { before: ReactNode; after: ReactNode }) {
  return (
    <>
      <Text component="del" inherit c="dimmed">
        <VisuallyHidden>{text.from} </VisuallyHidden>
        {before}
      </Text>{' '}
      <span aria-hidden>→</span>{' '}
      <Text component="ins" inherit td="none">
        <VisuallyHidden>{text.to} </VisuallyHidden>
        {after}
      </Text>
    </>
  );
}
