// How many segments an SMS takes. GSM 03.38: 160 septets alone, 153 each in a row; one character outside its alphabet and the whole
// text is UCS-2: 70 units alone, 67 each in a row.
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà'
/** An escape and a character: two septets. */
const EXTENDED = '^{}\\[~]|€\f'

export interface Segments {
  alphabet: 'GSM-7' | 'UCS-2'
  units: number
  segments: number
}

export function smsSegments(text: string): Segments {
  const gsm = [...text].every(char => BASIC.includes(char) || EXTENDED.includes(char))
  const units = gsm ? [...text].reduce((sum, char) => sum + (EXTENDED.includes(char) ? 2 : 1), 0) : text.length
  const [alone, inRow] = gsm ? [160, 153] : [70, 67]
  return { alphabet: gsm ? 'GSM-7' : 'UCS-2', units, segments: units <= alone ? 1 : Math.ceil(units / inRow) }
}
