import { Input, Skeleton } from '@mantine/core';
import { Suspense, useId } from 'react';
import { lazyPart } from '#console/src/chunks.ts';
import type { CodeSurfaceProps } from './code-surface.tsx';

const CodeSurface = lazyPart(() => import('./code-surface.tsx'), 'CodeSurface');

/** A field for JSON, an expression or a template, with marks, completion and undo. The editor is loaded on demand. */
export function CodeEditor({
  label,
  description,
  error,
  ...surface
}: Omit<CodeSurfaceProps, 'label' | 'describedBy' | 'invalid'> & {
  label: string;
  description?: string;
  error?: string | undefined;
}) {
  const id = useId();
  // Input.Wrapper derives the ids of its texts from its own.
  const texts = [
    ...(description === undefined ? [] : [`${id}-description`]),
    ...(error === undefined ? [] : [`${id}-error`]),
  ];
  return (
    <Input.Wrapper label={label} description={description} error={error} id={id}>
      <Suspense fallback={<Skeleton h={surface.minHeight ?? 120} />}>
        <CodeSurface
          {...surface}
          label={label}
          describedBy={texts.length === 0 ? undefined : texts.join(' ')}
          invalid={error !== undefined}
        />
      </Suspense>
    </Input.Wrapper>
  );
}
