import type { ReactNode } from 'react';
import type { Effect } from '#client/index.ts';
import { effect as text, listChanges } from '#console/src/messages/en/consequences.ts';
import { Message } from '#console/src/messages/message.tsx';
import { exactText } from '#console/src/parts/code/exact-json.ts';
import { ChangedValue } from '#console/src/parts/data/changed-value.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { ArgumentsTable } from './arguments-table.tsx';
import type { ComparedEffect } from './compared.ts';
import { actionText, certaintyText, costText, mayCallText } from './effect-texts.ts';

const markColours = { added: 'success', changed: 'warning', removed: 'danger' } as const;

/** One step that an answer sets in motion: what it does, when, and with what. Of plain elements, as there can be many. */
export function EffectRow({
  compared: { effect, mark, before, rows },
}: {
  compared: ComparedEffect;
}) {
  const { label, node_id, step_key, may_call: calls, approval, problem } = effect;
  const part = (of: (effect: Effect) => string | undefined): ReactNode => (
    <Part before={before && of(before)} after={of(effect)} />
  );
  return (
    <li className="effect" data-mark={mark} tabIndex={-1}>
      <div className="effect-head">
        <span className="effect-name">
          <UserText>{exactText(label)}</UserText>
        </span>
        {step_key !== node_id && <code className="effect-about">{step_key}</code>}
        <Tag size="sm" color={effect.effect === 'write' ? 'caution' : 'gray'}>
          {text[effect.effect]}
        </Tag>
        {mark !== undefined && (
          <Tag size="sm" color={markColours[mark]}>
            {listChanges[mark]}
          </Tag>
        )}
      </div>
      <div className="effect-about">
        {part(actionText)} · {part(certaintyText)}
        {[effect, before].some((each) => each && costText(each)) && <> · {part(costText)}</>}
      </div>
      {calls !== undefined && (
        <div>
          <Message
            text={text.mayCall}
            values={{ tools: exactText(calls.map(mayCallText).join(', ')) }}
          />
        </div>
      )}
      {approval !== undefined && (
        <div>
          <Message text={text.asksFirst} values={{ expression: exactText(approval) }} />
        </div>
      )}
      {problem !== undefined && (
        <div className="effect-problem">
          <Message text={text.problem} values={{ problem }} />
        </div>
      )}
      {rows !== undefined && <ArgumentsTable rows={rows} label={label} />}
    </li>
  );
}

/** A part of the description, with what it was before if that differs. */
function Part({ before, after }: { before: string | undefined; after: string | undefined }) {
  const shown = <UserText>{exactText(after ?? text.none)}</UserText>;
  if (before === undefined || before === after) return shown;
  return <ChangedValue before={<UserText>{exactText(before)}</UserText>} after={shown} />;
}
