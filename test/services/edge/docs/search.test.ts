import { expect } from 'chai'
import { createSearch, type SearchEntry } from '../../../../services/edge/docs/web/search.ts'

const entry = (more: Partial<SearchEntry> & Pick<SearchEntry, 'kind' | 'title'>): SearchEntry => ({
  context: '',
  text: '',
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
  entry({ kind: 'guide', title: 'Webhooks', context: '', text: 'Countersign POSTs an event.' }),
  entry({ kind: 'guide', title: '+15005550010', context: 'Magic recipients', text: 'delivered@magic.test' }),
])

const titles = (query: string): string[] => search(query, 10).map(({ title }) => title)

describe('the search of the reference', () => {
  it('finds an operation by its words and by its path', () => {
    expect(titles('send').slice(0, 2)).to.deep.equal(['Send it again', 'Start a verification'])
    expect(titles('otp resend')[0]).to.equal('Send it again')
    expect(titles('/otp/send')).to.deep.equal(['Start a verification'])
    expect(titles('start')[0]).to.equal('Start a verification')
  })

  it('finds a member by its exact name before all else', () => {
    expect(titles('otp_id')[0]).to.equal('otp_id')
    expect(titles('send_attempts')[0]).to.equal('send_attempts')
  })

  it('finds an error by a part of its name', () => {
    expect(titles('cooldown')[0]).to.equal('ResendCooldownError')
    expect(titles('ResendCool')).to.deep.equal(['ResendCooldownError'])
  })

  it('wants every word, in any place and any case', () => {
    expect(titles('CODE generates')).to.deep.equal(['Start a verification'])
    expect(titles('code webhooks')).to.deep.equal([])
  })

  it('finds a number', () => {
    expect(titles('+15005550010')).to.deep.equal(['+15005550010'])
    expect(titles('0010')).to.deep.equal(['+15005550010'])
  })

  it('finds nothing for nothing, and no more than is wanted', () => {
    expect(titles('  ')).to.deep.equal([])
    expect(titles('no such thing')).to.deep.equal([])
    expect(search('e', 2)).to.have.length(2)
  })
})
