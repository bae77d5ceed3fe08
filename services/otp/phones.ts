// WhatsApp knows some numbers by another form than E.164: without Brazil's ninth digit, with Mexico's old 1 and Argentina's 9.
// Two forms of one number are one number.

export const samePhone = (a: string, b: string): boolean => canonicalPhone(a) === canonicalPhone(b)

/** One form for all, not to be shown or called: only to be compared. */
export function canonicalPhone(number: string): string {
  const digits = number.replace(/\D/g, '')
  // Brazil's old mobiles began with 6 to 9. Taken off any other, the ninth digit would leave somebody's landline.
  return digits
    .replace(/^(55\d{2})9([6-9]\d{7})$/, '$1$2')
    .replace(/^521(\d{10})$/, '52$1')
    .replace(/^549(\d{10})$/, '54$1')
}
