import type { CustomTool, Workflow } from '#client/index.ts';
import { customToolName, onlyReads, workflowOf, writes } from '#shared/tools.ts';
import {
  builtinTexts,
  toolPicker as texts,
} from '#console/src/messages/en/workflows/node-fields.ts';

/** What a call of a tool can do. */
export type Effect = 'reads' | 'writes' | 'depends' | 'computes';

export interface ToolFacts {
  /** In one line. */
  about: string;
  effect: Effect;
}

type KnownTool = Pick<CustomTool, 'name' | 'label' | 'description' | 'read_only'>;
type KnownWorkflow = Pick<Workflow, 'id' | 'name' | 'description'>;

/** What a tool is for and does, by the name that nodes call it by. Of an unknown tool, a call may write. */
export function toolFacts(
  tool: string,
  custom: readonly KnownTool[],
  workflows: readonly KnownWorkflow[],
): ToolFacts {
  const reference = workflowOf(tool);
  if (reference !== undefined) {
    const found = workflows.find(({ id, name }) => id === reference || name === reference);
    return { about: found?.description || texts.workflow, effect: 'writes' };
  }
  const name = customToolName(tool);
  if (name !== undefined) {
    const found = custom.find((each) => each.name === name);
    const about = [found?.label, found?.description].filter(
      (text) => text !== undefined && text !== '',
    );
    return { about: about.join(': '), effect: found?.read_only === true ? 'reads' : 'writes' };
  }
  const about = Object.hasOwn(builtinTexts, tool)
    ? builtinTexts[tool as keyof typeof builtinTexts]
    : '';
  return { about, effect: effectOf(tool) };
}

function effectOf(tool: string): Effect {
  // Only the method of a request decides, so there are two answers for one tool.
  if (tool === 'http_request') return 'depends';
  if (writes(tool, undefined)) return 'writes';
  return onlyReads(tool, undefined) ? 'reads' : 'computes';
}

/** Whether a person approves each call of a tool that an agent gets, unless someone decides otherwise. */
export const asksFirst = ({ effect }: ToolFacts): boolean =>
  effect === 'writes' || effect === 'depends';
