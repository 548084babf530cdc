import { resolveTools } from '#shared/agents/offered-tools.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import type { Issues } from '#shared/graph/issues.ts';
import { agentToolsOf } from '#shared/graph/node-tools.ts';
import { suggest } from '#shared/graph/suggest.ts';
import { checkAddress } from './addresses.ts';
import { checkMarkup } from './markup.ts';
import type { ValidationContext } from './context.ts';

/** Options of an agent that have no meaning without tools. */
const OPTIONS = ['max_turns', 'tool_choice', 'on_max_turns'] as const;

/** Checks the tools that an agent offers, and the options that need tools. Its texts are checked elsewhere. */
export function checkAgentTools(
  issues: Issues,
  node: AgentNode,
  at: number,
  context: ValidationContext,
): void {
  const error = (code: string, message: string, path: string): void =>
    issues.error(code, `Node '${node.id}': ${message}`, {
      node_id: node.id,
      path: `nodes[${at}].${path}`,
    });
  if (node.tools === undefined) {
    for (const option of OPTIONS) {
      if (node[option] !== undefined) error('needs_tools', `${option} needs tools`, option);
    }
    if (node.mock?.turns !== undefined) {
      error('needs_tools', 'mock.turns needs tools', 'mock.turns');
    }
    return;
  }
  for (const { code, message, path } of resolveTools(node, context).problems) {
    error(code, message, path);
  }
  agentToolsOf(node).forEach(({ name, approval = 'never', fixed = {} }, place) => {
    const meant = suggest(approval, ['always', 'never']);
    // As an expression, it would read a key that does not exist, and no call would need approval.
    if (meant !== undefined) {
      const message = `the approval '${approval}' is neither 'always' nor 'never'; did you mean '${meant}'?`;
      error('approval_unknown', message, `tools[${place}].approval`);
    }
    checkAddress(issues, node.id, name, fixed, `nodes[${at}].tools[${place}].fixed`);
    checkMarkup(issues, node.id, name, fixed, `nodes[${at}].tools[${place}].fixed`);
  });
  checkMock(issues, node, at);
}

/** A model can call any name and gets an error, so a script can, too. */
function checkMock(issues: Issues, node: AgentNode, at: number): void {
  const names = new Set(agentToolsOf(node).map(({ name }) => name));
  node.mock?.turns?.forEach(({ calls = [] }, turn) => {
    calls.forEach(({ tool }, call) => {
      if (names.has(tool)) return;
      const message = `Node '${node.id}': the mock calls '${tool}', which it is not offered, and will be answered with an error`;
      const path = `nodes[${at}].mock.turns[${turn}].calls[${call}].tool`;
      issues.warning('mock_tool_not_offered', message, { node_id: node.id, path });
    });
  });
}
