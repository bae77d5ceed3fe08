// Texts of any code points, and addresses with them. fast-check's own unit 'binary' and its webUrl() list all code points first, which
// takes more than a second in each process.
import fc from 'fast-check'

const LAST_BEFORE_SURROGATES = 0xd7ff
const FIRST_AFTER_SURROGATES = 0xe000
const LAST = 0x10ffff

/** Half of them in the plane of the common scripts; never half a surrogate pair, which UTF-8 cannot hold. */
const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: LAST_BEFORE_SURROGATES }), fc.integer({ min: FIRST_AFTER_SURROGATES, max: LAST }))
  .map(point => String.fromCodePoint(point))

export const anyText = (options: { maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ unit: anyCharacter, ...options })

/** The path and the query are often empty. */
const part = (mark: string): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constant(''),
    anyText().map(text => mark + encodeURIComponent(text)),
  )

export const anyUrl = fc
  .tuple(fc.constantFrom('http', 'https'), fc.webAuthority(), part('/'), part('?'))
  .map(([scheme, host, path, query]) => `${scheme}://${host}${path}${query}`)
