// Safe to log and to show: enough for a person to recognise their own address, too little for anyone else.

/** `+44****56` of a number with calling code 44. */
export const maskPhone = (number: string, callingCode: string): string => `+${callingCode}****${number.slice(-2)}`

/** `a****@example.com`. By code points, so that half of a character is never shown. */
export const maskEmail = (address: string): string => {
  const at = address.lastIndexOf('@')
  return `${[...address.slice(0, at)][0] ?? ''}****${address.slice(at)}`
}
