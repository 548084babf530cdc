import type { AgentNode, ToolNode, WorkflowNode } from '#shared/contract/workflows/graph.ts';
import type { NodeReading } from '#shared/graph/dry-run/texts.ts';
import { renderValue, parseTemplate } from '#shared/graph/expression/template.ts';
import { expressionRoots } from '#shared/graph/expression/expression.ts';
import { nodeTexts, type NodeText } from '#shared/graph/node-texts.ts';
import { isObject } from '#shared/graph/json-value.ts';
import { renderParams } from '#shared/graph/prepare/step.ts';
import type { Json, JsonObject } from '#shared/json.ts';

/** A part of the arguments that is not known yet, as a path of keys and indexes, and the values of the state it reads. */
export interface UnknownArgument {
  path: (string | number)[];
  reads: string[];
}

/** What an effect is executed with, as far as it is known. */
export interface KnownArguments {
  /** Null where a value is unknown. */
  arguments: JsonObject;
  unknown: UnknownArgument[];
  /** Why a known template cannot be rendered: then the step fails. */
  problem?: string;
}

type EffectNode = AgentNode | ToolNode | WorkflowNode;

/** Renders what is known of a node's arguments. */
export function knownArguments(node: EffectNode, reading: NodeReading): KnownArguments {
  const texts = new Map(nodeTexts(node).map((text) => [text.path, text]));
  const unknown: UnknownArgument[] = [];
  const prefix = node.kind === 'tool' ? 'params' : node.kind === 'workflow' ? 'input' : '';
  const known = (value: Json, path: readonly (string | number)[], name: string): Json => {
    if (typeof value === 'string') {
      const text = texts.get(name);
      if (text === undefined || reading.fit([text]) === 'known') return value;
      unknown.push({ path: [...path], reads: readsOf(text) });
      return null;
    }
    if (Array.isArray(value)) {
      return value.map((item, at) => known(item, [...path, at], `${name}[${at}]`));
    }
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        known(item, [...path, key], name === '' ? key : `${name}.${key}`),
      ]),
    );
  };
  const templates = known(templatesOf(node), [], prefix) as JsonObject;
  try {
    const given =
      node.kind === 'tool'
        ? renderParams(node.tool_name, templates, reading.state, reading.callbacks).params
        : (renderValue(templates, reading.state) as JsonObject);
    return { arguments: given, unknown };
  } catch (error) {
    return { arguments: templates, unknown, problem: (error as Error).message };
  }
}

function templatesOf(node: EffectNode): JsonObject {
  if (node.kind === 'tool') return node.params;
  if (node.kind === 'workflow') return node.input;
  const { system_prompt, prompt } = node;
  return {
    ...(system_prompt === undefined ? {} : { system_prompt }),
    ...(prompt === undefined ? {} : { prompt }),
  };
}

const readsOf = ({ language, text }: NodeText): string[] =>
  language === 'expression'
    ? [...expressionRoots(text)]
    : parseTemplate(text).parts.flatMap((part) =>
        typeof part === 'string' ? [] : [part.path.join('.')],
      );
