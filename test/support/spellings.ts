// How vendors quote a recipient or a code in their errors. In: the recipient or the code. Out: its spellings.
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'

export function spellingsOfNumber(number: string): string[] {
  const phone = parsePhoneNumberFromString(number)
  if (!phone) throw new Error(`${number} is no phone number`)
  const plain = number.slice(1)
  const international = phone.formatInternational()
  const national = phone.formatNational()
  return [
    number,
    plain,
    `00${plain}`,
    international,
    international.replaceAll(' ', '-'),
    international.replaceAll(' ', '.'),
    international.replaceAll(' ', '\u00a0'),
    national,
    national.replaceAll(/\D/g, ''),
    phone.nationalNumber,
    phone.format('RFC3966'),
    encodeURIComponent(number),
    encodeURIComponent(encodeURIComponent(number)),
    encodeURIComponent(international),
    `to=${plain}&x=1`,
    `"${number}"`,
    `<${plain}>`,
    `whatsapp:${number}`,
    [...plain].join(' '),
    fullWidth(plain),
  ]
}

export function spellingsOfEmail(address: string): string[] {
  const [local = '', domain = ''] = address.split('@')
  return [
    address,
    address.toUpperCase(),
    `<${address}>`,
    `mailto:${address}`,
    encodeURIComponent(address),
    `${local} @ ${domain}`,
    `user=${address};`,
    local,
    `<${local}>`,
  ]
}

export function spellingsOfCode(code: string): string[] {
  const half = Math.ceil(code.length / 2)
  const [first, second] = [code.slice(0, half), code.slice(half)]
  return [
    code,
    `${first} ${second}`,
    `${first}-${second}`,
    `${first}%20${second}`,
    `${first}&nbsp;${second}`,
    `${first}\u200b${second}`,
    [...code].join(' '),
    [...code].join('. '),
    `#${code}`,
    `code=${code}`,
    `"${code} is your Shop verification code."`,
    encodeURIComponent(`Your code: ${code}.`),
    fullWidth(code),
  ]
}

const fullWidth = (digits: string): string =>
  digits.replaceAll(/\d/g, digit => String.fromCharCode(digit.charCodeAt(0) + 0xfee0))
