import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import type { PendingGate } from '#shared/contract/gates/pending-gate.ts';
import type { Answer } from '#test/api/test-api.ts';
import { type Engine, eventually, startEngine } from './engine.ts';

/** A run engine with an API in this process. */
export interface GateStage {
  call: (
    method: string,
    url: string,
    payload?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answer>;
  engine: Engine;
  app: App;
  close: () => Promise<void>;
}

export async function startGateStage(): Promise<GateStage> {
  const engine = await startEngine();
  const app = buildApp(engine.deps);
  await app.ready();
  return {
    engine,
    app,
    call: async (method, url, payload, headers = {}) => {
      const answer = await app.inject({
        ...{ method: method as 'GET', url, headers },
        ...(payload === undefined ? {} : { payload: payload as object }),
      });
      const { statusCode: status, headers: sent, body: text } = answer;
      return { status, headers: sent, text, body: text === '' ? undefined : answer.json() };
    },
    close: async () => {
      await app.close();
      await engine.close();
    },
  };
}

/** The open gates of a run, once the one with this step key is among them; that one first. */
export async function gatesOf(
  { engine }: GateStage,
  runId: string,
  stepKey: string,
): Promise<PendingGate[]> {
  let gates: PendingGate[] = [];
  await eventually(async () => {
    gates = (await engine.run(runId)).pending_gates;
    return gates.some(({ step_key }) => step_key === stepKey);
  });
  return gates.toSorted(
    (one, other) => Number(other.step_key === stepKey) - Number(one.step_key === stepKey),
  );
}
