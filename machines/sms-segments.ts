// Counts the segments of an SMS, on the server and as one types in the dashboard. GSM 03.38: a single segment holds 160 septets, each of
// several 153. A text with a character outside the GSM alphabet is sent as UCS-2: a single segment holds 70 units, each of several 67.
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
/** These take two septets: an escape and a character. */
const EXTENDED = '^{}\\[~]|€\f'
const SEPTETS = new Map<string, number>([
  ...[...BASIC].map((char): [string, number] => [char, 1]),
  ...[...EXTENDED].map((char): [string, number] => [char, 2]),
])

export interface Segments {
  alphabet: 'GSM-7' | 'UCS-2'
  units: number
  segments: number
}

export function smsSegments(text: string): Segments {
  const septets = septetsOf(text)
  const gsm = septets !== null
  const units = septets ?? text.length
  const [inSingle, inEachOfSeveral] = gsm ? [160, 153] : [70, 67]
  const segments = units <= inSingle ? 1 : Math.ceil(units / inEachOfSeveral)
  return { alphabet: gsm ? 'GSM-7' : 'UCS-2', units, segments }
}

/** Null for a text with a character outside the GSM alphabet. */
function septetsOf(text: string): number | null {
  let sum = 0
  for (const char of text) {
    const septets = SEPTETS.get(char)
    if (septets === undefined) return null
    sum += septets
  }
  return sum
}
