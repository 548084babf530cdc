import { type Detector, isWordCode, type Span } from './span.ts';

/** Length of an IBAN by country, from the SWIFT registry. */
const LENGTHS = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ' +
    'ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 ' +
    'LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 ' +
    'PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 ' +
    'YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/** Finds IBANs: the length of their country and valid check digits, in one piece or in groups. */
export const findIbans: Detector = (text) => {
  const spans: Span[] = [];
  for (const head of text.matchAll(/(?<![\p{L}\d])[a-z]{2}\d{2}/giu)) {
    const length = LENGTHS.get(head[0].slice(0, 2).toUpperCase());
    if (length === undefined) continue;
    const end = endOfIban(text, head.index, length);
    if (end !== undefined) spans.push({ start: head.index, end });
  }
  return spans;
};

function endOfIban(text: string, start: number, length: number): number | undefined {
  let code = '';
  let at = start;
  for (let gap = false; code.length < length; at += 1) {
    const unit = text.charCodeAt(at);
    // At most one space or hyphen between two groups.
    const isGap = unit === 0x20 || unit === 0xa0 || unit === 0x2d;
    if (isGap ? gap : unit > 127 || !isWordCode(unit)) return undefined;
    if (!isGap) code += text.charAt(at);
    gap = isGap;
  }
  if (isWordCode(text.charCodeAt(at))) return undefined;
  return hasRightCheckDigits(code.toUpperCase()) ? at : undefined;
}

/** ISO 7064, mod 97: letters count from 10, and the first four characters come last. */
function hasRightCheckDigits(code: string): boolean {
  let rest = 0;
  for (const character of code.slice(4) + code.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
