import '#console/src/parts/consequences/consequences.css';
import { Box, Button, Group, Stack, Text } from '@mantine/core';
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { Gate, JsonObject } from '#client/index.ts';
import { argumentsField as texts } from '#console/src/messages/en/gates.ts';
import { exactJson } from '#console/src/parts/code/exact-json.ts';
import { Copy } from '#console/src/parts/code/copy.tsx';
import { ChangedPaths, changesOf } from '#console/src/parts/data/changed-paths.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { type ArgumentPath, ArgumentRow } from './argument-row.tsx';
import { argumentPlaces, valueAt, withValueAt } from './argument-places.ts';
import { anObject, JsonField } from './json-field.tsx';
import { decisionPart } from './use-answer-keys.ts';

/** More are only rendered on request. */
const FIRST_ROWS = 20;

interface ArgumentsProps {
  /** The name of the tool. */
  of: string;
  /** The arguments as the model sent them. */
  given: JsonObject;
  /** Null if the tool is unknown. */
  tool: Gate['tool'];
  /** Undefined until the approver has changed something. */
  edited: JsonObject | undefined;
  /** Undefined for a reader who cannot edit them. */
  onEdited?: (edited: JsonObject | undefined) => void;
  onBroken?: (broken: boolean) => void;
  refusal?: string | undefined;
}

const ignore = (): void => undefined;

/** The arguments of a tool call, one by one. An approver can edit each in its place, or all as JSON. */
export function ArgumentsField(props: ArgumentsProps) {
  const { of, given, edited = given, onEdited, onBroken = ignore } = props;
  const [mode, setMode] = useState<'shown' | 'fields' | 'json'>(
    props.edited === undefined || onEdited === undefined ? 'shown' : 'fields',
  );
  const changes = useMemo(() => changesOf(given, edited), [given, edited]);
  const show = (next: typeof mode): void => {
    onBroken(false);
    setMode(next);
  };
  const discard = (): void => {
    onEdited?.(undefined);
    show('shown');
  };
  const button = (label: string, onClick: () => void, part = {}) => (
    <Button variant="subtle" size="compact-sm" {...part} onClick={onClick}>
      {label}
    </Button>
  );
  return (
    <Stack gap={4} role="group" aria-label={texts.label}>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {texts.title}
        </Text>
        <Copy text={exactJson(edited)} what={texts.of(of)} />
        {onEdited !== undefined && (
          <>
            {mode === 'shown' && button(texts.edit, () => show('fields'), decisionPart.edit)}
            {mode !== 'shown' &&
              button(mode === 'json' ? texts.asTable : texts.asJson, () =>
                show(mode === 'json' ? 'fields' : 'json'),
              )}
            {(mode !== 'shown' || changes.length > 0) && button(texts.discard, discard)}
          </>
        )}
      </Group>
      {mode === 'json' ? (
        <AsJson {...props} edited={edited} />
      ) : (
        <Table {...props} allOpen={mode === 'fields'} edited={edited} onBroken={onBroken} />
      )}
      {changes.length > 0 && onEdited !== undefined && (
        <Box role="status" aria-label={texts.changes} className="argument-changes">
          <ChangedPaths changes={changes} />
        </Box>
      )}
    </Stack>
  );
}

function AsJson({ given, tool, edited, onEdited, onBroken }: ArgumentsProps) {
  const fixed = new Set(tool?.fixed);
  const part = (of: JsonObject, isFixed: boolean): JsonObject =>
    Object.fromEntries(Object.entries(of).filter(([name]) => fixed.has(name) === isFixed));
  return (
    <>
      <JsonField
        label={texts.label}
        value={part(edited ?? given, false)}
        judge={(value) => anObject(value ?? null)}
        onBroken={onBroken ?? ignore}
        onChange={(next) => onEdited?.({ ...(next as JsonObject), ...part(given, true) })}
        minHeight={120}
      />
      {fixed.size > 0 && (
        <Dimmed size="xs">
          {[...fixed].join(', ')}: {texts.fixed}
        </Dimmed>
      )}
    </>
  );
}

function Table({
  of,
  given,
  tool,
  edited,
  onEdited,
  onBroken,
  refusal,
  allOpen,
}: ArgumentsProps & {
  edited: JsonObject;
  onBroken: (broken: boolean) => void;
  allOpen: boolean;
}) {
  const [most, setMost] = useState(FIRST_ROWS);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const places = useMemo(
    () => argumentPlaces(given, edited, allOpen ? tool?.schema : undefined),
    [given, edited, allOpen, tool],
  );
  // One function for all rows, so that only the changed row is rendered again.
  const latest = useRef({ edited, onEdited });
  useLayoutEffect(() => {
    latest.current = { edited, onEdited };
  });
  const change = useCallback((at: ArgumentPath, value: unknown) => {
    const next = withValueAt(latest.current.edited, at, value);
    latest.current.edited = next;
    latest.current.onEdited?.(next);
  }, []);
  const open = useCallback((name: string) => setOpened((before) => new Set([...before, name])), []);
  const fixed = new Set(tool?.fixed);
  const stateOf = (name: string, [first]: ArgumentPath) => {
    if (fixed.has(String(first))) return 'fixed';
    if (onEdited === undefined) return 'shown';
    if (opened.has(name)) return 'opened';
    return allOpen ? 'field' : 'shown';
  };
  if (places.length === 0) return <Dimmed>{texts.noArguments}</Dimmed>;
  return (
    <>
      <table className="arguments" aria-label={texts.of(of)}>
        <tbody>
          {places.slice(0, most).map(({ path, at }) => (
            <ArgumentRow
              key={path}
              name={path}
              at={at}
              given={valueAt(given, at)}
              value={valueAt(edited, at)}
              schema={tool?.schema}
              state={stateOf(path, at)}
              onOpen={onEdited && open}
              onChange={change}
              {...{ onBroken, refusal }}
            />
          ))}
        </tbody>
      </table>
      {places.length > most && (
        <Button
          size="compact-sm"
          variant="subtle"
          w="fit-content"
          onClick={() => setMost(places.length)}
        >
          {texts.showAll(countText(places.length))}
        </Button>
      )}
    </>
  );
}
