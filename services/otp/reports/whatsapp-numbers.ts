// Phone numbers of WhatsApp users. WhatsApp's ids are E.164 without the plus, but for some mobile numbers: older
// accounts in Brazil lack the ninth digit, and those in Mexico have the 1 that mobile numbers had there. An Argentine
// mobile has its 9 in both, and the same digits without it are a fixed line: another number, which may have a WhatsApp
// account of its own.

/** The number in E.164 of the user who has this id. An id is that of one number only; a text that is no id belongs to none. */
export const numberOfWhatsAppId = (id: string): string =>
  `+${id.replace(/\D/g, '')}`
    // Only mobile numbers whose next digit is 6 to 9 ever lacked the ninth digit: 2 to 5 begin a fixed line.
    .replace(/^(\+55\d{2})([6-9]\d{7})$/, '$19$2')
    .replace(/^\+521(\d{10})$/, '+52$1')
