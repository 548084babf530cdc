import { Text } from '@mantine/core';
import { type RefObject, useEffect, useRef } from 'react';
import type { Approval } from '#client/index.ts';
import { gateList as texts } from '#console/src/messages/en/approvals.ts';
import { Message } from '#console/src/messages/message.tsx';
import { progressOf } from '#console/src/parts/forms/gate-rules.tsx';
import { roundOf } from '#console/src/parts/gates/drafts.ts';
import { useWaitingDecision } from '#console/src/parts/gates/waiting-decision.ts';
import { Tag } from '#console/src/parts/tag.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { ItemLink } from '#console/src/parts/links.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { useNow } from '#console/src/parts/text/now.ts';
import { mineSearch, stepOf } from './chosen.ts';
import { gateKey } from './removed-gates.ts';

/** Pending gates, each linked to its own URL. */
export function GateList({
  gates,
  mine,
  chosen,
  focusChosen,
}: {
  gates: readonly Approval[];
  /** Whether only the gates of the user are listed. */
  mine: boolean;
  /** The position of the selected gate; -1 if there is none. */
  chosen: number;
  /** Set to move the focus, once, to the selected gate. */
  focusChosen: RefObject<boolean>;
}) {
  const now = useNow();
  const current = useRef<HTMLAnchorElement>(null);
  const chosenGate = gates[chosen];
  const chosenKey = chosenGate && gateKey(chosenGate);
  useEffect(() => {
    if (!focusChosen.current) return;
    focusChosen.current = false;
    current.current?.focus();
  }, [chosenKey, focusChosen]);
  return (
    <nav aria-label={texts.label}>
      {gates.map((gate, index) => {
        const { run_id: runId, node_id: nodeId } = gate;
        const active = index === chosen;
        return (
          <ItemLink
            key={gateKey(gate)}
            ref={active ? current : undefined}
            to="/approvals/$runId/$nodeId"
            params={{ runId, nodeId }}
            search={{ step: stepOf(gate), ...mineSearch(mine) }}
            active={active}
            aria-current={active ? 'true' : undefined}
            variant="light"
            label={
              <Text size="sm" fw={600} component="span">
                <UserText>{gate.title}</UserText>
              </Text>
            }
            description={<Description gate={gate} now={now} />}
          />
        );
      })}
    </nav>
  );
}

function Description({ gate, now }: { gate: Approval; now: number }) {
  const progress = progressOf(gate);
  const decision = useWaitingDecision();
  const isDecided = decision?.key === roundOf(gate.run_id, gate);
  return (
    <Text size="xs" component="span" c="var(--mantine-color-text)" style={{ display: 'block' }}>
      {isDecided && (
        <Tag size="sm" mr="xs" color={decision.approved ? 'success' : 'danger'}>
          {decision.approved ? texts.approved : texts.rejected}
        </Tag>
      )}
      <UserText>{gate.workflow_name}</UserText>
      {' · '}
      {texts.waitingFor(durationText(now - Date.parse(gate.since)))}
      {progress !== undefined && ` · ${progress}`}
      {gate.assignee !== undefined && (
        <>
          {' · '}
          <Message text={texts.assignedTo} values={{ name: gate.assignee.name }} />
        </>
      )}
      <Text size="xs" component="span" lineClamp={2} c="dimmed">
        <UserText>{gate.kind === 'tool_call' ? gate.label : gate.prompt}</UserText>
      </Text>
    </Text>
  );
}
