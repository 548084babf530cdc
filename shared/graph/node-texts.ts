import type { Json } from '../json.ts';
import type { GraphNode } from '../contract/graph.ts';
import { isObject } from './json-value.ts';

export interface NodeText {
  language: 'expression' | 'template';
  text: string;
  /** Within the node, like `params.body.items[0]`. */
  path: string;
}

/**
 * All texts of a node that are evaluated over the state. Texts in a tool's params are templates, except for the
 * expression of `json_transform`.
 */
export function nodeTexts(node: GraphNode): NodeText[] {
  switch (node.kind) {
    case 'agent': {
      const { system_prompt, prompt } = node;
      return [...textsIn(system_prompt, 'system_prompt'), ...textsIn(prompt, 'prompt')];
    }
    case 'tool': {
      const texts = textsIn(node.params, 'params');
      if (node.tool_name !== 'json_transform') return texts;
      return texts.map((text) =>
        text.path === 'params.expression' ? { ...text, language: 'expression' } : text,
      );
    }
    case 'condition':
    case 'loop':
      return [{ language: 'expression', text: node.expression, path: 'expression' }];
    case 'human_gate':
      return textsIn(node.prompt, 'prompt');
    case 'merge':
      return [];
  }
}

function textsIn(value: Json | undefined, path: string): NodeText[] {
  if (typeof value === 'string') return [{ language: 'template', text: value, path }];
  if (Array.isArray(value)) return value.flatMap((item, at) => textsIn(item, `${path}[${at}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => textsIn(item, `${path}.${key}`));
}
