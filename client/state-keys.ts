/**
 * Types that check the templates of nodes against the keys of the run's state. `Keys` is `string` where any key may
 * exist; then nothing is checked.
 */

type Letter =
  | 'a'
  | 'b'
  | 'c'
  | 'd'
  | 'e'
  | 'f'
  | 'g'
  | 'h'
  | 'i'
  | 'j'
  | 'k'
  | 'l'
  | 'm'
  | 'n'
  | 'o'
  | 'p'
  | 'q'
  | 'r'
  | 's'
  | 't'
  | 'u'
  | 'v'
  | 'w'
  | 'x'
  | 'y'
  | 'z';
type Digit = '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9';
type Start = Letter | Uppercase<Letter> | '_' | '$';

/** Whether a text only consists of characters of a key. Keys in other scripts are not checked. */
type IsRest<Text extends string> = Text extends ''
  ? true
  : Text extends `${infer First}${infer Rest}`
    ? First extends Start | Digit | '-'
      ? IsRest<Rest>
      : false
    : false;
type IsKey<Text extends string> = Text extends `${infer First}${infer Rest}`
  ? First extends Start
    ? IsRest<Rest>
    : false
  : false;

/** The key at the start of `key.field[0]`. */
type Head<Inside extends string> = Inside extends `${infer First}.${string}`
  ? Head<First>
  : Inside extends `${infer First}[${string}`
    ? First
    : Inside;

/** The first key in a template that the state does not have; never if there is none. `{{` is a literal brace. */
type UnknownKey<Text extends string, Keys extends string> = Text extends `${string}{${infer After}`
  ? After extends `{${infer Rest}`
    ? UnknownKey<Rest, Keys>
    : After extends `${infer Inside}}${infer Rest}`
      ? IsKey<Head<Inside>> extends true
        ? Head<Inside> extends Keys | 'secrets' | 'callbacks'
          ? UnknownKey<Rest, Keys>
          : Head<Inside>
        : UnknownKey<After, Keys>
      : never
  : never;

/** The text itself, or else an error message that the compiler prints. A text that is not a literal is not checked. */
type CheckedText<Text extends string, Keys extends string> = string extends Text
  ? Text
  : [UnknownKey<Text, Keys>] extends [never]
    ? Text
    : `No node before this one, and no input, has the key '${UnknownKey<Text, Keys>}'`;

/** Texts at any depth. */
type CheckedTexts<Value, Keys extends string> = Value extends string
  ? CheckedText<Value, Keys>
  : Value extends object
    ? { [Key in keyof Value]: CheckedTexts<Value[Key], Keys> }
    : Value;

/** The fields whose texts are templates. */
type TemplateField = 'prompt' | 'system_prompt' | 'params' | 'mock' | 'tools';

/** The options of a node, without unknown fields and without templates that read unknown keys. */
export type CheckedNode<Given, Options, Keys extends string> = {
  [Field in keyof Given]: Field extends keyof Options
    ? string extends Keys
      ? Given[Field]
      : Field extends TemplateField
        ? CheckedTexts<Given[Field], Keys>
        : Given[Field]
    : never;
};

/** The key of a node's output: its `output_key`, or its id. */
export type OutputKey<Id extends string, Given> = Given extends {
  output_key: infer Key extends string;
}
  ? Key
  : Id;

/** The keys of an object that matches a schema; any key if the schema does not list them all. */
export type SchemaKeys<Schema> = Schema extends { additionalProperties: true | object }
  ? string
  : Schema extends { properties: infer Properties }
    ? keyof Properties & string
    : string;
