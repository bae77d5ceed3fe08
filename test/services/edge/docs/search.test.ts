// The search of the reference: how it judges, and what it finds in the real reference.
import { expect } from 'chai'
import { createReference } from '../../../../services/edge/docs/reference.ts'
import type { SearchEntry } from '../../../../services/edge/docs/search-entries.ts'
import { createSearch } from '../../../../services/edge/docs/web/search.ts'
import { createFileDocument } from '../../../openapi/document.ts'

const entry = (more: Partial<SearchEntry> & Pick<SearchEntry, 'kind' | 'title'>): SearchEntry => ({
  context: '',
  text: '',
  keywords: '',
  address: '/docs/x',
  anchor: more.title,
  ...more,
})

const search = createSearch([
  entry({ kind: 'member', title: 'otp_id', context: 'Check a code', text: 'The verification, as send returned it.' }),
  entry({
    kind: 'member',
    title: 'send_attempts',
    context: 'AppSettings',
    text: 'Sends and resends per verification.',
  }),
  entry({
    kind: 'operation',
    title: 'Start a verification',
    context: 'POST /api/v1/otp/send',
    text: 'Generates a code.',
  }),
  entry({ kind: 'operation', title: 'Send it again', context: 'POST /api/v1/otp/resend', text: 'After a cooldown.' }),
  entry({ kind: 'error', title: 'ResendCooldownError', context: 'Errors', text: 'Wait retry_after seconds.' }),
  entry({ kind: 'guide', title: 'Webhooks', keywords: 'callback, push message', text: 'Countersign POSTs an event.' }),
  entry({ kind: 'guide', title: '+15005550010', context: 'Magic recipients', text: 'delivered@magic.test' }),
])

const titles = (query: string): string[] => search(query, 10).entries.map(({ title }) => title)

describe('the search of the reference', () => {
  it('finds an operation by its words and by its path, and a number by a part of it', () => {
    expect(titles('send').slice(0, 2)).to.deep.equal(['Send it again', 'Start a verification'])
    expect(titles('otp resend')[0]).to.equal('Send it again')
    expect(titles('/otp/send')).to.deep.equal(['Start a verification'])
    expect(titles('start')[0]).to.equal('Start a verification')
    expect(titles('+15005550010')).to.deep.equal(['+15005550010'])
    expect(titles('0010')).to.deep.equal(['+15005550010'])
    expect(titles('  ')).to.deep.equal([])
    expect(titles('no such thing')).to.deep.equal([])
    expect(search('e', 2).entries).to.have.length(2)
  })

  it('wants every word, in any place and any case, except those that say nothing', () => {
    expect(titles('CODE generates')).to.deep.equal(['Start a verification'])
    expect(titles('code webhooks')).to.deep.equal([])
    expect(titles('how do I start a verification')).to.deep.equal(['Start a verification'])
  })

  it('forgives letters that are missing, wrong, too many or swapped, in words that are nowhere', () => {
    for (const typed of ['webhok', 'wehbook', 'webhoook', 'webbook'])
      expect(search(typed, 10).corrected, typed).to.equal('webhook')
    expect(titles('webhok')).to.deep.equal(['Webhooks'])
    expect(search('webhook', 10).corrected).to.equal(null)
    expect(titles('xwbhok'), 'too many errors').to.deep.equal([])
    expect(titles('snd'), 'too short to guess').to.deep.equal([])
  })
})

describe('the first result in the reference', () => {
  const { searchEntries } = createReference({
    document: createFileDocument(),
    base: { url: 'http://localhost:3000', known: false },
    screens: [],
    assets: '',
  })
  const searchAll = createSearch(searchEntries)
  const first = (query: string): string | undefined => searchAll(query, 1).entries[0]?.anchor

  /** What a reader types, and where the search should lead. */
  const MEANT: Record<string, string> = {
    cors: 'origins',
    'origin not allowed': 'error-OriginNotAllowedError',
    'rate limit': 'limits',
    '429': 'error-RateLimitExceededError',
    'how do I send a code': 'start-send',
    send: 'send',
    exchange: 'exchange',
    verification_token: 'exchange.verification_token',
    captcha: 'challenges',
    signature: 'webhook-signatures',
    'api key': 'admin-api-keys',
    whatsapp: 'start-links',
    twilio: 'admin-providers-and-routing',
    'delete user': 'deleteUser',
    'idempotency-key': 'send.idempotency-key',
  }

  it('is what the reader meant', () => {
    for (const [query, anchor] of Object.entries(MEANT)) expect(first(query), query).to.equal(anchor)
  })

  it('exists for the title of every page, and is that page', () => {
    for (const { title, anchor, kind } of searchEntries.filter(
      ({ kind, context }) => kind === 'guide' && context === '',
    ))
      expect(first(title), `${kind} ${title}`).to.equal(anchor)
  })
})
