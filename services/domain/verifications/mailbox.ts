// The mailbox that limits count. In: a recipient in canonical form. Out: the same text for every spelling of one mailbox that its owner can
// make up: capitals, a tag after a plus, and at Gmail dots and the second name of the domain. A phone number stays as it is.
//
// It is for counting only: verifications are found and erased by the address as it was written.

const GMAIL = new Set(['gmail.com', 'googlemail.com'])

export function mailboxOf(recipient: string): string {
  const at = recipient.lastIndexOf('@')
  if (at < 0) return recipient
  const [local, domain] = [recipient.slice(0, at).toLowerCase(), recipient.slice(at + 1).toLowerCase()]
  const name = withoutTag(local)
  return GMAIL.has(domain) ? `${name.replaceAll('.', '')}@gmail.com` : `${name}@${domain}`
}

/** A local part that begins with a plus has no name before its tag. */
function withoutTag(local: string): string {
  const plus = local.indexOf('+')
  return plus > 0 ? local.slice(0, plus) : local
}
