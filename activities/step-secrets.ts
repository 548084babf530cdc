import type { Sealer } from '#shared/crypto/sealing.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { CustomTool } from '#shared/db/tools/custom-tools.ts';
import { useSecrets } from '#shared/db/secrets/secrets.ts';
import type { StepCall } from '#shared/execution.ts';
import { isObject } from '#shared/graph/json-value.ts';
import type { JsonObject } from '#shared/json.ts';
import { secretNamesOfTool } from '#shared/platform/calls/custom-tool.ts';
import type { RequestCheck } from '#shared/platform/egress/egress.ts';
import { openSecrets, type StepSecrets } from '#shared/platform/secrets/open-secrets.ts';
import type { SecretCutter } from '#shared/platform/secrets/secret-cutter.ts';
import type { NodeCall } from './nodes/node.ts';

/**
 * The secrets that a step needs, still sealed: those of its parameters, or of the headers of its custom tool. They are
 * read before the step is claimed, so that a database outage does not use up a retry of the node. Undefined when it
 * needs none.
 */
export async function readStepSecrets(
  { db, sealer }: { db: Pool; sealer: Sealer | undefined },
  { workspace_id: workspaceId, secrets: places = [] }: StepCall,
  customTool: CustomTool | undefined,
): Promise<StepSecrets | undefined> {
  const names = [
    ...places.map(({ name }) => name),
    ...(customTool === undefined ? [] : secretNamesOfTool(sealer, customTool)),
  ];
  if (names.length === 0) return undefined;
  const sealed = await useSecrets(db, { workspaceId, names: [...new Set(names)] });
  return { places, sealed };
}

/** A step's parameters with the values of its secrets, and the guards that keep these from leaking. */
interface StepWithSecrets {
  params: JsonObject;
  check: RequestCheck;
  cutter: SecretCutter;
}

/** Undefined when the parameters contain no secret. Throws NodeError. */
export function openForStep(
  sealer: Sealer | undefined,
  { params: given, secrets }: Pick<NodeCall, 'params' | 'secrets'>,
): StepWithSecrets | undefined {
  if (secrets === undefined || secrets.places.length === 0) return undefined;
  const { places, sealed } = secrets;
  const { fill, check, cutter } = openSecrets(
    sealer,
    sealed,
    places.map(({ name }) => name),
  );
  const params = fill(given, places);
  return { params, check, cutter: cutter(textsOf(params['headers'])) };
}

const textsOf = (headers: JsonObject[string] | undefined): Record<string, string> =>
  isObject(headers)
    ? Object.fromEntries(
        Object.entries(headers).flatMap(([name, value]) =>
          typeof value === 'string' ? [[name, value]] : [],
        ),
      )
    : {};
