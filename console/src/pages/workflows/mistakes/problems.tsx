import { Alert } from '@mantine/core';
import { MistakeList } from './mistake-list.tsx';
import type { Checked } from './use-mistakes.ts';

/** What is wrong with a graph, before it is run or published. Nothing if nothing is known to be wrong. */
export function Problems({
  checked,
  title,
}: {
  checked: Pick<Checked, 'mistakes' | 'confirmed'>;
  title: string;
}) {
  const { mistakes = [] } = checked;
  if (mistakes.length === 0) return null;
  const errors = mistakes.some(({ severity }) => severity === 'error');
  return (
    <Alert color={errors ? 'danger' : 'warning'} title={title} role="status">
      <MistakeList checked={checked} />
    </Alert>
  );
}
