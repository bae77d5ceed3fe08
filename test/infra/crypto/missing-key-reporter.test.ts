import { expect } from 'chai'
import { MissingKey, UnknownSecret } from '../../../infra/crypto/keyring.ts'
import { createMissingKeyReporter, isMissingKeyError } from '../../../infra/crypto/missing-key-reporter.ts'
import { createCapturedLog } from '../../support/captured-log.ts'
import { testClock } from '../../support/clock.ts'
import { testKeyring } from '../../support/tenancy.ts'

describe('a missing key', () => {
  const thrown = (work: () => unknown): unknown => {
    try {
      return work()
    } catch (error) {
      return error
    }
  }

  it('is distinguished from a bug, and named by its id', () => {
    const sealed = testKeyring(9).seal('a text', 'here')
    const error = thrown(() => testKeyring(1).unseal(sealed, 'here'))
    expect(isMissingKeyError(error)).to.equal(true)
    expect(error).to.include({ keyId: 'd9' })
    const moved = thrown(() => testKeyring(9).unseal(sealed, 'there'))
    expect(isMissingKeyError(moved), 'no key would open it there').to.equal(false)
    expect(isMissingKeyError(new Error('a bug'))).to.equal(false)
  })

  it('is one log line per interval for each key, which says how often it was needed', async () => {
    const [captured, clock] = [createCapturedLog(), testClock()]
    const tell = createMissingKeyReporter({ log: captured.log, clock })
    const gone = new MissingKey('2026a')
    for (let nth = 0; nth < 100; nth += 1) tell(gone, { otp_id: `otp_${nth}` })
    tell(new UnknownSecret('2026a'))
    await clock.advance(10_000)
    tell(gone, { otp_id: 'otp_last' })
    const lines = captured.lines().map(({ setting, key_id, otp_id, more }) => ({ setting, key_id, otp_id, more }))
    expect(lines).to.deep.equal([
      { setting: 'DATA_KEYS', key_id: '2026a', otp_id: 'otp_0', more: undefined },
      { setting: 'CODE_SECRETS', key_id: '2026a', otp_id: undefined, more: undefined },
      { setting: 'DATA_KEYS', key_id: '2026a', otp_id: 'otp_last', more: 99 },
    ])
  })
})
