import { toolsAllowedByName } from '#shared/tools.ts';
import { isRecord, type JsonRecord } from '#console/src/parts/data/record.ts';

/**
 * What a test of the node may need permission for; empty for a node that only computes, or whose effects are never
 * allowed.
 */
export function allowancesOf(node: JsonRecord): string[] {
  switch (node['kind']) {
    case 'agent': {
      const tools = Array.isArray(node['tools']) ? (node['tools'] as unknown[]) : [];
      const names = tools.map((tool) => (isRecord(tool) ? tool['name'] : tool));
      return [...new Set(['agent', ...names.flatMap((name) => toolAllowances(name, undefined))])];
    }
    case 'workflow':
      return ['workflow'];
    case 'tool': {
      const params = isRecord(node['params']) ? node['params'] : {};
      return toolAllowances(node['tool_name'], params['method'] ?? 'GET');
    }
    default:
      return [];
  }
}

function toolAllowances(name: unknown, method: unknown): string[] {
  if (typeof name !== 'string') return [];
  if (name === 'http_request') {
    const methods = typeof method === 'string' ? [method.toUpperCase()] : ['GET', 'POST'];
    return methods.filter((each) => /^[A-Z]+$/.test(each)).map((each) => `http_request:${each}`);
  }
  if (name.startsWith('workflow:')) return ['workflow'];
  if (name.startsWith('custom:')) return [name];
  return toolsAllowedByName.includes(name) ? [name] : [];
}
