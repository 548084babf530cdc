import { Input, Skeleton } from '@mantine/core';
import { lazy, Suspense, useId } from 'react';
import type { CodeSurfaceProps } from './code-surface.tsx';

const CodeSurface = lazy(async () => ({
  default: (await import('./code-surface.tsx')).CodeSurface,
}));

/** A field for JSON or an expression, with line numbers, marks and undo. The editor is loaded on demand. */
export function CodeEditor({
  label,
  description,
  error,
  ...surface
}: Omit<CodeSurfaceProps, 'label'> & {
  label: string;
  description?: string;
  error?: string | undefined;
}) {
  const id = useId();
  return (
    <Input.Wrapper label={label} description={description} error={error} id={id}>
      <Suspense fallback={<Skeleton h={surface.minHeight ?? 120} />}>
        <CodeSurface {...surface} label={label} />
      </Suspense>
    </Input.Wrapper>
  );
}
