import { Alert, Code, Group, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import {
  evaluateExpression,
  ExpressionError,
  expressionRoots,
  truthy,
} from '#shared/graph/expression/expression.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { words } from '#console/src/messages/en/words.ts';
import { expressionBench as texts } from '#console/src/messages/en/governance/expressions.ts';
import { Message } from '#console/src/messages/message.tsx';
import { CodeEditor } from '#console/src/parts/code/code-editor.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';

type Outcome = { value: Json; roots: string[] } | { problem: string; position: number | undefined };

/** The expression with its errors marked in place, and its value. Loaded on demand. */
export function ExpressionBench({
  expression,
  onExpression,
  state,
}: {
  expression: string;
  onExpression: (expression: string) => void;
  state: string;
}) {
  const outcome = useMemo(() => evaluated(expression, state), [expression, state]);
  const marks = useMemo(() => marksOf(outcome, expression), [outcome, expression]);
  return (
    <Stack gap="sm">
      <CodeEditor
        label={texts.expression}
        language="expression"
        value={expression}
        onChange={onExpression}
        minHeight={60}
        marks={marks}
      />
      {'problem' in outcome ? (
        <Alert color="danger" role="status" title={titleOf(outcome)}>
          {outcome.problem}
        </Alert>
      ) : (
        <Value value={outcome.value} roots={outcome.roots} />
      )}
    </Stack>
  );
}

const titleOf = ({ position }: { position: number | undefined }): string =>
  position === undefined ? texts.invalidState : texts.errorAt(countText(position + 1));

function Value({ value, roots }: { value: Json; roots: string[] }) {
  return (
    <Stack gap="xs" role="status">
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {words.value}
        </Text>
        <Tag color={truthy(value) ? 'success' : 'gray'}>
          {truthy(value) ? texts.isTrue : texts.isFalse}
        </Tag>
      </Group>
      <JsonView value={value === '' ? '""' : value} what={texts.theValue} />
      {roots.length > 0 && (
        <Text size="xs" c="dimmed">
          <Message
            text={texts.reads}
            values={{
              names: roots.map((root, index) => (
                <span key={root}>
                  {index > 0 && ', '}
                  <Code>{root}</Code>
                </span>
              )),
            }}
          />
        </Text>
      )}
    </Stack>
  );
}

function evaluated(expression: string, state: string): Outcome {
  const scope = parsedState(state);
  if ('problem' in scope) return { ...scope, position: undefined };
  try {
    return {
      value: evaluateExpression(expression, scope.state),
      roots: expressionRoots(expression),
    };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { problem: error.reason, position: error.position };
  }
}

function parsedState(text: string): { state: JsonObject } | { problem: string } {
  try {
    const state = JSON.parse(text) as unknown;
    if (typeof state !== 'object' || state === null || Array.isArray(state)) {
      return { problem: texts.notAnObject };
    }
    return { state: state as JsonObject };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

function marksOf(outcome: Outcome, expression: string) {
  if (!('problem' in outcome) || outcome.position === undefined) return [];
  // An error at the end of the text marks the last character.
  const from = Math.max(0, Math.min(outcome.position, expression.length - 1));
  return [{ from, to: from + 1, message: outcome.problem, severity: 'error' as const }];
}
