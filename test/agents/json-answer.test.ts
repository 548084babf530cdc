import { describe, expect, test } from '@jest/globals';
import { jsonInAnswer } from '#shared/agents/json-answer.ts';
import { growth } from '#test/support/growth.ts';
import { soakTest } from '#test/support/soak.ts';

const answer = { label: 'a "{" b', parts: [1, { deep: [] }] };
const json = JSON.stringify(answer);
const read = (text: string, cutOff = false) => jsonInAnswer(text, { cutOff });

describe('the JSON of an answer', () => {
  test.each([
    ['alone', ` ${json}\n`],
    ['after thoughts', `<think>Is it {"label": 1}? No.</think>\n${json}`],
    ['after thoughts of two kinds', `<thinking>a</thinking> <Reasoning>b</reasoning>${json}`],
    ['after thoughts without their first tag', `Let me see: {"label": 1}\n</think>\n\n${json}`],
    ['in a fence', `\`\`\`json\n${json}\n\`\`\``],
    ['in a fence of another spelling', `\`\`\`JSON\r\n${json}\r\n\`\`\``],
    ['in a fence between words', `Here it is:\n\n\`\`\`json\n${json}\n\`\`\`\nAnything else?`],
    ['in the last fence', `Not \`\`\`json\n{"label": 1}\n\`\`\` but\n\`\`\`\n${json}\n\`\`\``],
    ['after thoughts, in a fence', `<think>{}</think>Sure!\n\`\`\`json\n${json}\n\`\`\``],
    ['between words', `The answer [1] is ${json}, I think {maybe}.`],
    ['in a fence that does not end', `\`\`\`json\n${json}`],
  ])('is found %s', (_where, text) => {
    expect(read(text)).toEqual(answer);
  });

  test.each([
    ['words', 'Billing, I think'],
    ['thoughts alone', `<think>It could be ${json}</think>`],
    ['thoughts alone, with words', `<think>It could be ${json}</think> I cannot say.`],
    ['thoughts that do not end', `<think>It could be ${json}`],
    ['JSON that is cut off', json.slice(0, -1)],
    ['a list that is cut off after an object', `Here: [${json}, `],
    ['a fence that is cut off', `\`\`\`json\n[${json},`],
  ])('is not found in %s', (_what, text) => {
    expect(read(text)).toBeUndefined();
  });

  test('of a truncated answer only counts if it is the whole answer', () => {
    expect(read(`First ${json}, then {`, true)).toBeUndefined();
    expect(read(`First ${json}, then`, true)).toBeUndefined();
    expect(read(`<think>x</think>${json}`, true)).toEqual(answer);
  });

  test('keeps the digits of its numbers', () => {
    expect(read('Sure: {"id": 7615917337495251231}')).toEqual({ id: '7615917337495251231' });
  });
});

soakTest.each<[string, (bytes: number) => string]>([
  ['spaces in a fence', (bytes) => `\`\`\`json\n${' '.repeat(bytes)}`],
  ['spaces after a fence', (bytes) => `\`\`\`${' '.repeat(bytes)}x\n{}\n\`\`\``],
  ['thoughts', (bytes) => '<think></think>'.repeat(bytes / 15)],
  ['ends of thoughts', (bytes) => '</think'.repeat(bytes / 7)],
  ['lists', (bytes) => '[1] '.repeat(bytes / 4)],
  ['brackets that do not end', (bytes) => `x ${'['.repeat(bytes)}`],
])('an answer of %s is read in linear time', (_what, textOf) => {
  const reading = (bytes: number) => {
    const text = textOf(bytes);
    return () => read(text);
  };
  expect(growth(reading, 200_000)).toBeLessThan(3);
});
