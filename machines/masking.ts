// Masks recipients for logs and for display. In: a phone number or an email address. Out: enough of it that its owner recognises it,
// and too little for others to find it.

/** `+44****56` of a number with calling code 44. */
export const maskPhone = (number: string, callingCode: string): string => `+${callingCode}****${number.slice(-2)}`

/** `a****@example.com`. The first character is a whole code point, not half of a surrogate pair. */
export const maskEmail = (address: string): string => {
  const at = address.lastIndexOf('@')
  return `${[...address.slice(0, at)][0] ?? ''}****${address.slice(at)}`
}
