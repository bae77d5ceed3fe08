// The machinery for versions, on made-up ones: version 1 is the first.
import { expect } from 'chai'
import {
  createMigrate,
  type OlderOtp,
  OTP_VERSION,
  type SavedOtp,
  toCurrentVersion,
} from '../../machines/otp.versions.ts'
import { device, issued, play, right, T0 } from '../support/otp.ts'

describe('migrating a saved verification', () => {
  const saved = issued({ id: 'cmd_start' })
  const addMember = (member: string) => (older: OlderOtp) => ({
    ...older,
    context: { ...older.context, [member]: true },
  })

  it('leaves the current version as it is, which survives being written as JSON', () => {
    expect(JSON.parse(JSON.stringify(saved))).to.deep.equal(saved)
    expect(toCurrentVersion(saved)).to.equal(saved)
  })

  it('lets a made-up older version go on as a current one', () => {
    const { rules, ...contextWithoutRules } = saved.context
    const older = { ...saved, version: OTP_VERSION - 1, context: contextWithoutRules } as SavedOtp
    const addRules = (one: OlderOtp): OlderOtp => ({ ...one, context: { ...one.context, rules } })
    const migrated = createMigrate(OTP_VERSION, { [OTP_VERSION - 1]: addRules })(older)
    expect(migrated).to.deep.equal(saved)
    expect(play(migrated, right()).saved.value).to.equal('approved')
  })

  it('refuses a verification that a newer release saved', () => {
    const newer = { ...saved, version: OTP_VERSION + 1 }
    expect(() => toCurrentVersion(newer)).to.throw(`newer release: otp version ${OTP_VERSION + 1}`)
    expect(() => play(newer, right({ by: device, at: T0 }))).to.throw('newer release')
  })

  it('runs one migrator for each version, in order', () => {
    const order: number[] = []
    const recordAndAdd = (version: number, member: string) => (older: OlderOtp) => {
      order.push(version)
      return addMember(member)(older)
    }
    const migrators = { 1: recordAndAdd(1, 'second'), 2: recordAndAdd(2, 'third') }
    const migrated = createMigrate(3, migrators)({ ...saved, version: 1 })
    expect(order).to.deep.equal([1, 2])
    expect(migrated.version).to.equal(3)
    expect(migrated.context).to.include({ second: true, third: true })
  })

  it('does not change its argument', () => {
    const read = structuredClone({ ...saved, version: 1 })
    createMigrate(2, { 1: addMember('second') })(read)
    expect(read).to.deep.equal({ ...saved, version: 1 })
  })

  it('names the version for which a migrator is missing', () => {
    expect(() => createMigrate(3, { 1: addMember('second') })({ ...saved, version: 1 })).to.throw(
      'no migrator from otp version 2 to 3',
    )
    expect(() => toCurrentVersion({ ...saved, version: 0 })).to.throw('no migrator from otp version 0')
  })
})
