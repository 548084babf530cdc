import { expect, jest, test } from '@jest/globals';
import type { Json } from '#shared/json.ts';
import { joined, jsonOf, JsonText, put } from '#shared/values/json-text.ts';

function withTexts(texts: Record<string, string>): Record<string, Json> {
  const object: Record<string, Json> = {};
  for (const [key, text] of Object.entries(texts)) put(object, key, new JsonText(text));
  return object;
}

test('JSON with texts is written without parsing them, even within lists and joined objects', () => {
  const object = withTexts({ a: '[1, 2]', b: '{"c":"x"}' });
  const whole = joined(
    { first: 0, list: [object, 'y'] },
    { last: joined(object, { b: null, d: 3 }) },
  );
  const parse = jest.spyOn(JSON, 'parse');
  const written = jsonOf(whole);
  expect(parse).not.toHaveBeenCalled();
  parse.mockRestore();
  expect(written).toBe(
    '{"first":0,"list":[{"a":[1, 2],"b":{"c":"x"}},"y"],"last":{"a":[1, 2],"b":null,"d":3}}',
  );
  expect(whole).toEqual(JSON.parse(written));
});

test("a value that equals a text's placeholder is not replaced by the text", () => {
  const object = withTexts({ a: '1', b: '2' });
  let place: Json = 1;
  jsonOf({ toJSON: () => (place = object['a']!) });
  expect(place).not.toBe(1);
  for (const forged of [place, `"${place}"`, `${place}","${place}`]) {
    put(object, 'c', forged);
    expect(JSON.parse(jsonOf([object, forged]))).toEqual([{ a: 1, b: 2, c: forged }, forged]);
  }
});

test('an error while JSON is written leaves the texts unchanged', () => {
  const object = withTexts({ a: '1' });
  const failing = {
    toJSON: () => {
      throw new Error('no JSON');
    },
  };
  expect(() => jsonOf([object, failing])).toThrow('no JSON');
  expect(object['a']).toBe(1);
});
