// In: any text on its way into a log line. Out: the same without what looks like a secret or a recipient. Names of members guard
// what we log on purpose; this guards what slips in by accident: a vendor's error message, a URL, a stack.

// Every repetition in a pattern is bounded or begins where a word does: texts from outside must not make matching slow.
type Rule = [pattern: RegExp, instead: string]

// What a domain or a local part can be made of, Unicode included: addresses with international domains are kept in Unicode.
const LOCAL_PART = String.raw`(?:"[^"]{1,64}"|[^\s@"<>(),;:\\[\]]{1,64})`
const LABEL = String.raw`[\p{L}\p{M}\p{N}_-]+`
const EMAIL_ADDRESS = new RegExp(
  String.raw`(${LOCAL_PART})(?:@|%40)${LABEL}(?:\.${LABEL})*\.\p{L}[\p{L}\p{M}\p{N}-]+`,
  'gu',
)

const SECRET_NAMES =
  'tokens?|secrets?|passw(?:or)?d|pass|pwd|key|salt|signature|recipient|client_ip|code|session|authorization|cookie'

/** Those after which a plain colon, as in a header or an inspected object, is hardly ever followed by anything else. */
const SECRET_NAMES_BEFORE_COLON = 'tokens?|secrets?|passw(?:or)?d|pwd|api[_-]?key|salt|signature|authorization|cookie'

/** Applied in this order. */
const RULES: Rule[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, '[private key]'],
  // A password in these may hold an unescaped slash, so everything up to the last @ goes.
  [/\b((?:amqps?|mongodb(?:\+srv)?|smtps?):\/\/)[^\s"'<>]{0,999}@/gi, '$1[hidden]@'],
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/?#"'<>]{0,999}@/gi, '$1[hidden]@'],
  // The pre-filled text of such a link approves a verification.
  [/\b(wa\.me|api\.whatsapp\.com)\/[^\s"'<>]+/gi, '$1/[hidden]'],
  [/\b(bearer|basic)(\s+|%20)[^\s"',;]+/gi, '$1 [hidden]'],
  [/[sp]k_(?:live|test)_[\w-]+/g, '[key]'],
  [/otp_vt_[\w-]+/g, '[token]'],
  [/whsec_[\w+/=-]+/g, '[secret]'],
  [/(?<![\w-])eyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[jwt]'],
  // `…token=x` in a query or a form, `"token":"x"` in JSON, also when quoted inside another text.
  [new RegExp(String.raw`((?:${SECRET_NAMES})(?:=|\\?["']\s*:\s*)\\?["']?)[^\s"'&,;}\\]+`, 'gi'), '$1[hidden]'],
  [
    new RegExp(
      String.raw`((?:${SECRET_NAMES_BEFORE_COLON})\s{0,3}:\s{0,3})(?:(["'])[^"']+\2|(?:\w{1,20} )?[^\s"',;}]{0,200}?\d[^\s"',;}]*)`,
      'gi',
    ),
    '$1[hidden]',
  ],
  [/\b(codes?\W{1,3}(?:is\W)?)\d{4,8}\b/gi, '$1[hidden]'],
  // The last line of a message that a browser reads by itself.
  [/(@[\w.-]{1,253} #)\d{4,8}\b/g, '$1[hidden]'],
  [/(?:\+|%2B)\d(?:[ ().-]{0,2}\d){6,}/gi, '[phone]'],
  // A number without its plus, as WhatsApp and some vendors write it.
  [/(?<![\w.-])[1-9]\d{9,14}(?![\w-]|\.\d)/g, '[number]'],
]

/** More than any message of ours needs. What is cut off takes the word it cuts with it, lest half a secret stays unrecognised. */
const MAX_TEXT_LENGTH = 16_384

/** Anything one of the rules begins with; most texts have nothing of it and pass at the price of one look. */
const MAY_HOLD_SECRET =
  /[@+=]|%[24]|:\/\/|[sp]k_|otp_vt_|whsec_|eyJ|wa\.me|whatsapp|bearer|basic|-----|(?<!\d)\d{4,8}(?!\d)|(?<![\w.-])\d{10}|["']\s*:|(?:token|secret|passw(?:or)?d|pwd|key|salt|signature|authorization|cookie)s?\s*:/i

/** The words in which the product's own messages say a code. They are the product's, so the composition root adds them at start. */
let spokenCodes: RegExp | null = null
export function hideAlso(pattern: RegExp): void {
  spokenCodes = pattern
}

export function scrub(text: string): string {
  if (text.length > MAX_TEXT_LENGTH) return `${scrub(text.slice(0, MAX_TEXT_LENGTH).replace(/\S{0,200}$/, ''))}[cut]`
  if (!MAY_HOLD_SECRET.test(text)) return text
  const clean = RULES.reduce((left, [pattern, replacement]) => left.replace(pattern, replacement), text)
  const silent = spokenCodes === null ? clean : clean.replace(spokenCodes, '[hidden]')
  return silent.replace(EMAIL_ADDRESS, (found, local: string) => (isMask(local) ? found : '[email]'))
}

/** `j****@example.com`, our own mask, is safe to log. */
const isMask = (local: string): boolean => /^[^*]\*{4}$/u.test(local)
