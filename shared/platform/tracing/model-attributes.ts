import type { SpanAttributes } from './spans.ts';

/** `openai/gpt-5` is the model `gpt-5` of the provider `openai`; `mock` is both. */
export function nameOfModel(name: string): { provider: string; model: string } {
  const slash = name.indexOf('/');
  return slash < 0
    ? { provider: name, model: name }
    : { provider: name.slice(0, slash), model: name.slice(slash + 1) };
}

/** The model attributes of a span, by the GenAI semantic conventions. */
export function modelAttributes(name: string): SpanAttributes {
  const { provider, model } = nameOfModel(name);
  return { 'gen_ai.provider.name': provider, 'gen_ai.request.model': model };
}
