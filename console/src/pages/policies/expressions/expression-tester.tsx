import { SimpleGrid, Skeleton, Stack } from '@mantine/core';
import { Suspense, useState } from 'react';
import { lazyPart } from '#console/src/chunks.ts';
import { expressionTester as text } from '#console/src/messages/en/governance/expressions.ts';
import { CodeEditor } from '#console/src/parts/code/code-editor.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

const ExpressionBench = lazyPart(() => import('./expression-bench.tsx'), 'ExpressionBench');

const EXAMPLE = "triage.category == 'billing' and amount > 100";
const EXAMPLE_STATE = `{
  "triage": { "category": "billing" },
  "amount": 120
}`;

/** Evaluates an expression over a state, as conditions and loops do. Runs in the browser. */
export function ExpressionTester() {
  const [expression, setExpression] = useState(EXAMPLE);
  const [state, setState] = useState(EXAMPLE_STATE);
  return (
    <Stack gap="sm">
      <Dimmed>{text.about}</Dimmed>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <CodeEditor
          label={text.state}
          language="json"
          value={state}
          onChange={setState}
          maxHeight={280}
        />
        <Suspense fallback={<Skeleton h={120} />}>
          <ExpressionBench expression={expression} onExpression={setExpression} state={state} />
        </Suspense>
      </SimpleGrid>
    </Stack>
  );
}
