// Compares phone numbers. WhatsApp writes some numbers differently from E.164: without Brazil's ninth digit, with Mexico's old 1 and
// with Argentina's 9.
export const samePhone = (a: string, b: string): boolean => canonicalPhone(a) === canonicalPhone(b)

/** A form that is the same for both spellings. It is only for comparing, not for display or calls. */
function canonicalPhone(number: string): string {
  const digits = number.replace(/\D/g, '')
  // Only Brazilian mobile numbers whose next digit is 6 to 9 ever lacked the ninth digit. Without it, others would equal a landline.
  return digits
    .replace(/^(55\d{2})9([6-9]\d{7})$/, '$1$2')
    .replace(/^521(\d{10})$/, '52$1')
    .replace(/^549(\d{10})$/, '54$1')
}
