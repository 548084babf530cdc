import type { Run, Step } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { runRecord as text } from '#console/src/messages/en/runs/run.ts';
import { states } from '#console/src/messages/en/parts/states.ts';
import { runTimes } from '#console/src/messages/en/parts/values.ts';
import { runState } from '#console/src/parts/run-badges.tsx';
import { durationText } from '#console/src/parts/text/duration.ts';
import { countText, dollarsText } from '#console/src/parts/text/numbers.ts';
import { timeText } from '#console/src/parts/text/times.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Decided } from './inspector/decided.tsx';
import { stepName } from './node-states.ts';
import { Started } from './run-header.tsx';
import { listedName } from './steps/agent-steps.ts';
import { shownState } from './steps/step-state.ts';
import { usePrinting } from './use-printing.ts';

/** The run on paper: what it was, why it failed, its steps, and who decided what. Nothing on the screen. */
export function RunRecord({ run }: { run: Run }) {
  if (!usePrinting()) return null;
  return (
    <article className="run-record">
      <h1>
        <UserText>{run.workflow_name}</UserText>
      </h1>
      <Facts run={run} />
      {run.error !== null && (
        <>
          <h2>{words.error}</h2>
          <p>
            <UserText>{run.error}</UserText>
          </p>
        </>
      )}
      <Decisions steps={run.steps} />
      <h2>{words.steps}</h2>
      {run.step_counts !== null && <p>{text.cut(countText(run.steps.length))}</p>}
      <Steps steps={run.steps} />
    </article>
  );
}

function Facts({ run }: { run: Run }) {
  const { duration_ms: working, waiting_ms: waiting } = run;
  const facts = [
    [text.id, run.id],
    [words.status, states[runState(run)]],
    [words.version, run.of_draft ? text.draft : String(run.workflow_version)],
    [words.created, timeText(run.created_at)],
    run.finished_at !== null && [text.finished, timeText(run.finished_at)],
    [runTimes.total, durationText(working + waiting)],
    [runTimes.working, durationText(working)],
    [runTimes.waiting, durationText(waiting)],
    [words.cost, dollarsText(run.cost_usd)],
  ].filter((fact) => fact !== false);
  return (
    <>
      <p>
        <Started run={run} />
      </p>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Decisions({ steps }: Pick<Run, 'steps'>) {
  const decided = steps.filter(({ decision }) => decision !== undefined);
  if (decided.length === 0) return null;
  return (
    <>
      <h2>{text.decisions}</h2>
      <ul>
        {decided.map((step) => (
          <li key={step.step_key}>
            <b>
              <UserText>{stepName(step)}</UserText>
            </b>
            {step.decision !== undefined && (
              <Decided decision={step.decision} decisions={step.decisions} />
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

const Steps = ({ steps }: Pick<Run, 'steps'>) => (
  <table>
    <thead>
      <tr>
        <th>{words.step}</th>
        <th>{words.status}</th>
        <th>{words.started}</th>
        <th>{words.duration}</th>
        <th>{words.cost}</th>
      </tr>
    </thead>
    <tbody>
      {steps.map((step) => (
        <tr key={step.step_key}>
          <td>
            <UserText>{nameOf(step)}</UserText>
            {step.error !== null && (
              <p>
                <UserText>{step.error}</UserText>
              </p>
            )}
          </td>
          <td>{states[shownState(step)]}</td>
          <td>{timeText(step.started_at)}</td>
          <td>{step.duration_ms !== null && durationText(step.duration_ms)}</td>
          <td>{dollarsText(step.cost_usd)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const nameOf = (step: Step): string => stepName({ ...step, label: listedName(step) });
