/** The long names of Unicode categories in JavaScript patterns, with those of RE2. */
const CATEGORIES: Readonly<Record<string, string>> = {
  Letter: 'L',
  Uppercase_Letter: 'Lu',
  Lowercase_Letter: 'Ll',
  Titlecase_Letter: 'Lt',
  Modifier_Letter: 'Lm',
  Other_Letter: 'Lo',
  Mark: 'M',
  Nonspacing_Mark: 'Mn',
  Spacing_Mark: 'Mc',
  Enclosing_Mark: 'Me',
  Number: 'N',
  Decimal_Number: 'Nd',
  digit: 'Nd',
  Letter_Number: 'Nl',
  Other_Number: 'No',
  Punctuation: 'P',
  punct: 'P',
  Connector_Punctuation: 'Pc',
  Dash_Punctuation: 'Pd',
  Open_Punctuation: 'Ps',
  Close_Punctuation: 'Pe',
  Symbol: 'S',
  Math_Symbol: 'Sm',
  Currency_Symbol: 'Sc',
  Modifier_Symbol: 'Sk',
  Other_Symbol: 'So',
  Separator: 'Z',
  Space_Separator: 'Zs',
  Control: 'Cc',
  cntrl: 'Cc',
};

const ESCAPE =
  /\\(?:u([dD][89abAB][\da-fA-F]{2})\\u([dD][c-fC-F][\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]{1,6})\}|c([A-Za-z])|([pP])\{(?:(?:General_Category|gc|Script|sc)=)?(\w+)\}|[\s\S])/g;

/**
 * A pattern of a JSON Schema, which has JavaScript's syntax, with the escapes of RE2. Syntax that RE2 lacks is left
 * unchanged.
 */
export const toRe2 = (pattern: string): string =>
  pattern.replaceAll(
    ESCAPE,
    (
      text,
      high: string | undefined,
      low: string | undefined,
      unit: string | undefined,
      point: string | undefined,
      control: string | undefined,
      class_: string | undefined,
      name: string | undefined,
    ) => {
      if (high !== undefined && low !== undefined) {
        return hex(((parseInt(high, 16) - 0xd800) << 10) + (parseInt(low, 16) - 0xdc00) + 0x10000);
      }
      const code = unit ?? point;
      if (code !== undefined) return hex(parseInt(code, 16));
      if (control !== undefined) return hex(control.charCodeAt(0) % 32);
      if (class_ === undefined || name === undefined) return text;
      return `\\${class_}{${Object.hasOwn(CATEGORIES, name) ? CATEGORIES[name]! : name}}`;
    },
  );

const hex = (code: number): string => `\\x{${code.toString(16)}}`;
