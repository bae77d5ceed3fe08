// In: any text on its way into a log line. Out: the same text without what looks like a secret or a recipient. secret-members.ts hides
// what we log under its own name; this file hides what comes in by accident, in a provider's error message, a URL or a stack.

// Every repetition in a pattern is bounded or begins where a word begins, so that a hostile text cannot make matching slow.
type Rule = [pattern: RegExp, replacement: string]

// Unicode letters count: addresses with international domains are kept in Unicode.
const LOCAL_PART = String.raw`(?:"[^"]{1,64}"|[^\s@"<>(),;:\\[\]]{1,64})`
const LABEL = String.raw`[\p{L}\p{M}\p{N}_-]+`
const EMAIL_ADDRESS = new RegExp(
  String.raw`(${LOCAL_PART})(?:@|%40)${LABEL}(?:\.${LABEL})*\.\p{L}[\p{L}\p{M}\p{N}-]+`,
  'gu',
)

const SECRET_NAMES =
  'tokens?|secrets?|passw(?:or)?d|pass|pwd|key|salt|signature|recipient|client_ip|code|session|authorization|cookie'

/** Names that are secret also before a plain colon, as in a header or an inspected object. `code` and `key` are not among them:
 *  `code: 404` is ordinary text. */
const SECRET_NAMES_BEFORE_COLON = 'tokens?|secrets?|passw(?:or)?d|pwd|api[_-]?key|salt|signature|authorization|cookie'

/** Applied in this order: an earlier rule may hide what a later one would only hide in part. */
const RULES: Rule[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[private key]'],
  // The password in these URLs may hold an unescaped slash, so everything up to the last @ is hidden.
  [/\b((?:amqps?|mongodb(?:\+srv)?|smtps?):\/\/)[^\s"'<>]{0,999}@/gi, '$1[hidden]@'],
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"'<>]{0,999}@/gi, '$1[hidden]@'],
  // The text in a WhatsApp link approves a verification.
  [/\b(wa\.me|api\.whatsapp\.com)\/[^\s"'<>]+/gi, '$1/[hidden]'],
  [/\b(bearer|basic)(\s+|%20)[^\s"',;]+/gi, '$1 [hidden]'],
  [/[sp]k_(?:live|test)_[\w-]+/g, '[key]'],
  [/otp_vt_[\w-]+/g, '[token]'],
  [/whsec_[\w+/=-]+/g, '[secret]'],
  [/(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[jwt]'],
  // `…token=x` in a query or a form, and `"token":"x"` in JSON, also in JSON that is quoted inside another text.
  [new RegExp(String.raw`((?:${SECRET_NAMES})(?:=|\\?["']\s*:\s*)\\?["']?)[^\s"'&,;}\\]+`, 'gi'), '$1[hidden]'],
  [
    new RegExp(
      String.raw`((?:${SECRET_NAMES_BEFORE_COLON})\s{0,3}:\s{0,3})(?:(["'])[^"']+\2|(?:\w{1,20} )?[^\s"',;}]{0,200}?\d[^\s"',;}]*)`,
      'gi',
    ),
    '$1[hidden]',
  ],
  [/\b(codes?\W{1,3}(?:is\W)?)\d{4,10}\b/gi, '$1[hidden]'],
  // `@shop.example #123456`, the last line of an SMS, from which browsers fill in the code.
  [/(@[\w.-]{1,253} #)\d{4,10}\b/g, '$1[hidden]'],
  [/(?:\+|%2B)\d(?:[ ().-]{0,2}\d){6,}/gi, '[phone]'],
  // A phone number without its plus, as WhatsApp and some other providers write it.
  [/(?<![\w.-])[1-9]\d{9,14}(?![\w-]|\.\d)/g, '[number]'],
]

/** Longer than any message of ours. The word at the cut is dropped too: half a secret would not be recognised. */
const MAX_TEXT_LENGTH = 16_384

/** Matches every text that a rule could change. Most texts do not match and skip the rules. */
const MAY_HOLD_SECRET =
  /[@+=]|%[24]|:\/\/|[sp]k_|otp_vt_|whsec_|eyJ|wa\.me|whatsapp|bearer|basic|-----|(?<!\d)\d{4,9}(?!\d)|(?<![\w.-])\d{10}|["']\s*:|(?:token|secret|passw(?:or)?d|pwd|key|salt|signature|authorization|cookie)s?\s*:/i

let codePattern: RegExp | null = null

/** Registers where a code stands in the product's own messages: a provider that refuses a message may quote it in its error. The texts
 *  belong to the product, and infra does not import them, so services/main.ts registers their pattern at start. */
export function registerCodePattern(pattern: RegExp): void {
  codePattern = pattern
}

export function scrub(text: string): string {
  if (text.length > MAX_TEXT_LENGTH) return `${scrub(text.slice(0, MAX_TEXT_LENGTH).replace(/\S{0,200}$/, ''))}[cut]`
  if (!MAY_HOLD_SECRET.test(text)) return text
  const clean = RULES.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text)
  const withoutCodes = codePattern === null ? clean : clean.replace(codePattern, '[hidden]')
  return withoutCodes.replace(EMAIL_ADDRESS, (found, local: string) => (isMask(local) ? found : '[email]'))
}

/** `j****@example.com`, our own mask, is safe to log. */
const isMask = (local: string): boolean => /^[^*]\*{4}$/u.test(local)
