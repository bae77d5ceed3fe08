// Meta's error codes that say whose fault a failure is. The same codes come in answers to calls and in receipts.
// https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes

/** A template has no translation into the language that was asked for. */
export const NO_SUCH_TRANSLATION = 132001

/** A country that the account may not send to, a number that is not on its test list, a user who has not written recently. */
export const DESTINATION_ERRORS: ReadonlySet<number> = new Set([130497, 131030, 131047])

/** All other errors depend on the account: its token (0, 190), permissions (3, 10, 200–299), rates (4, 80007, 130429, 131048, 131056),
 *  payment (131042), template (132…), standing (368, 131031); or on Meta itself (1, 2, 131000, 131016). Another provider may accept the
 *  message. */
export const RECIPIENT_ERRORS: ReadonlySet<number> = new Set([
  130472, // the number is part of an experiment of Meta's, for every business
  131021, // the sender's own number
  131026, // not on WhatsApp, or not able to receive this message
])
