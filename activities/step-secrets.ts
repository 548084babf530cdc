import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import { type CallbackStep, createCallbackTokens } from '#shared/crypto/callback-tokens.ts';
import type { Sealer, SealingKeys } from '#shared/crypto/sealing.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { CustomTool } from '#shared/db/tools/custom-tools.ts';
import { useSecrets } from '#shared/db/secrets/secrets.ts';
import type { StepCall } from '#shared/execution.ts';
import { isObject } from '#shared/graph/json-value.ts';
import { stepKeyIn } from '#shared/graph/schedule/step-key.ts';
import type { JsonObject } from '#shared/json.ts';
import { callbackAddress } from '#shared/values/callback-address.ts';
import { referencesOfTool } from '#shared/platform/calls/custom-tool.ts';
import type { RequestCheck } from '#shared/platform/egress/egress.ts';
import { CONNECTIONS, namesOf, SECRETS, valueKey } from '#shared/values/secrets.ts';
import {
  openSecrets,
  type StepSecrets,
  withoutSecrets,
} from '#shared/platform/secrets/open-secrets.ts';
import type { SecretCutter } from '#shared/platform/secrets/secret-cutter.ts';
import type { NodeCall, NodeRunner } from './nodes/node.ts';

/** The address of the callback of a step; undefined without a key from which it could be derived. */
export type AddressOf = ((step: CallbackStep) => string) | undefined;

/** Derives addresses under the public URL of the service. */
export function createAddresses(config: SealingKeys & { api: { publicUrl: string } }): AddressOf {
  const tokens = createCallbackTokens(config);
  if (tokens === undefined) return undefined;
  return (step) => callbackAddress(config.api.publicUrl, tokens.tokenOf(step));
}

/** The values of a step, and the names of the connections whose tokens it needs when it sends something. */
export interface KnownSecrets extends StepSecrets {
  connections: readonly string[];
}

/**
 * The secrets that a step needs, still sealed: those of its parameters, or of the headers of its custom tool; the
 * addresses of callbacks that its parameters contain; and the names of connections. They are read before the step is claimed, so that a database
 * outage does not use up a retry of the node. Undefined when it needs none.
 */
export async function readStepSecrets(
  { db, sealer, addressOf }: { db: Pool; sealer: Sealer | undefined; addressOf: AddressOf },
  { workspace_id: workspaceId, run_id: runId, iteration, secrets: places = [] }: StepCall,
  customTool: CustomTool | undefined,
): Promise<KnownSecrets | undefined> {
  const references = [
    ...places.flatMap(({ name, depth, connection }) => {
      if (depth !== undefined) return [];
      return [{ source: connection === true ? CONNECTIONS : SECRETS, name } as const];
    }),
    ...(customTool === undefined ? [] : referencesOfTool(sealer, customTool)),
  ];
  if (references.length + places.length === 0) return undefined;
  const names = namesOf(references, SECRETS);
  const sealed =
    names.length === 0 ? new Map<string, never>() : await useSecrets(db, { workspaceId, names });
  const addresses = places.flatMap(({ name, depth }) => {
    if (depth === undefined || addressOf === undefined) return [];
    const stepKey = stepKeyIn(name, iteration.slice(0, depth));
    return [[name, addressOf({ runId, stepKey })] as const];
  });
  const connections = namesOf(references, CONNECTIONS);
  return { places, sealed, addresses: new Map(addresses), connections };
}

/** A step's parameters with the values of its secrets and the addresses, and the guards that keep these from leaking. */
interface StepWithSecrets {
  params: JsonObject;
  check: RequestCheck;
  cutter: SecretCutter;
}

/** Undefined when the parameters contain neither. Throws NodeError. */
export function openForStep(
  sealer: Sealer | undefined,
  { params: given, secrets }: Pick<NodeCall, 'params' | 'secrets'>,
): StepWithSecrets | undefined {
  if (secrets === undefined || secrets.places.length === 0) return undefined;
  const { places } = secrets;
  const { fill, check, cutter } = openSecrets(sealer, secrets, places.map(valueKey));
  const params = fill(given, places);
  return { params, check, cutter: cutter(textsOf(params['headers'])) };
}

/** Runs a tool with the addresses of callbacks in its parameters. They are in nothing that it returns or throws. */
export const withAddresses =
  (run: NodeRunner<ToolNode>): NodeRunner<ToolNode> =>
  async (call) => {
    const opened = openForStep(undefined, call);
    if (opened === undefined) return run(call);
    const { params, cutter } = opened;
    return withoutSecrets(cutter, async () => {
      const result = await run({ ...call, params });
      return { ...result, output: cutter.json(result.output) };
    });
  };

const textsOf = (headers: JsonObject[string] | undefined): Record<string, string> =>
  isObject(headers)
    ? Object.fromEntries(
        Object.entries(headers).flatMap(([name, value]) =>
          typeof value === 'string' ? [[name, value]] : [],
        ),
      )
    : {};
