import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { PROJECT_ROOT } from '../../infra/web/built-site.ts'
import { otpMachine } from '../../machines/otp.machine.ts'
import type { OtpStatus, Reply } from '../../machines/otp.ts'
import {
  createMigrate,
  type OlderOtp,
  OTP_VERSION,
  type SavedOtp,
  toCurrentVersion,
} from '../../machines/otp.versions.ts'
import { GOLDEN_STATES } from '../support/otp.golden.ts'
import { statePaths } from '../support/otp.paths.ts'
import {
  cancel,
  device,
  exchange,
  type Move,
  message,
  play,
  reported,
  resend,
  right,
  T0,
  wrong,
} from '../support/otp.ts'
import { shapeOf } from '../support/shape.ts'

const fileOf = (version: number): string => join(PROJECT_ROOT, `test/machines/golden/otp.v${version}.json`)
const golden = (version: number): Record<string, SavedOtp> => JSON.parse(readFileSync(fileOf(version), 'utf8'))
const versions = Array.from({ length: OTP_VERSION }, (_, before) => before + 1)

/** For each golden state: the next move, and the state and reply that must follow, for every version that saved it. */
const next: Record<string, [Move, OtpStatus, Partial<Record<string, unknown>>]> = {
  'pending, just sent': [right(), 'approved', { kind: 'verified', matched: true, attempts_left: 5 }],
  'pending, guessed, delivered and resent with a fresh code': [
    wrong(),
    'pending',
    { kind: 'verified', matched: false, attempts_left: 3 },
  ],
  'pending on a link, its code sent in the chat': [resend('sms'), 'pending', { kind: 'accepted' }],
  'pending on a link that approves': [message(), 'approved', { kind: 'noted', changed: true }],
  'approved by a device, its token exchanged, then guessed at': [exchange(), 'approved', { kind: 'exchanged' }],
  'approved by a message': [right(), 'approved', { kind: 'refused', error: 'OtpNotPendingError' }],
  'failed, with a delivery that failed too': [right(), 'failed', { error: 'OtpNotPendingError', otp_status: 'failed' }],
  'expired, an address without a usable client_ip': [
    reported('delivered'),
    'expired',
    { kind: 'noted', changed: true },
  ],
  canceled: [cancel(), 'canceled', { kind: 'accepted' }],
}

for (const version of versions)
  describe(`a verification saved as version ${version}`, () => {
    const states = golden(version)

    for (const [name, saved] of Object.entries(states)) {
      it(`can be restored and continued: ${name}`, () => {
        const [move, value, reply] = next[name] ?? expect.fail(`no next move for "${name}"`)
        const played = play(saved, move)
        expect(played.saved.value).to.equal(value)
        expect(played.reply as Reply & Record<string, unknown>).to.include(reply)
      })

      it(`recognises the commands it has handled: ${name}`, () => {
        for (const { id, reply } of saved.last_commands) {
          const again = play(saved, cancel({ id }))
          expect(again.reply).to.deep.equal(reply)
          expect([again.changed, again.effects]).to.deep.equal([false, []])
        }
      })
    }

    it('has a golden state for every state of the machine', () => {
      const values = new Set(Object.values(states).map(({ value }) => value))
      expect([...values]).to.have.members(Object.keys(otpMachine.states))
    })

    it('has the machine and the version in each golden state', () => {
      for (const saved of Object.values(states)) expect(saved).to.include({ machine: 'otp', version })
    })
  })

/** The paths at which a string is one of a few words that the machine knows, so that a renamed word counts as a changed shape. */
const WORDS = /(^machine|^value|mode|kind|whatsapp|channel|status|error|order\[\]|tried\[\])$/

/** Members that a verification of this version may have or lack: they came later and need no migration, because a verification without them
 *  means what it meant before. */
const OPTIONAL_MEMBERS = [
  'failed_at',
  'first_wrong_at',
  'canceled',
  'joined',
  'joined[]',
  'joined[].by',
  'joined[].by.key_id',
  'joined[].by.kind',
  'joined[].canceled',
  'joined[].failed_at',
  'joined[].first_wrong_at',
  'joined[].joined_at',
  'joined[].otp_id',
  'joined[].wrong_codes',
  'deliveries[].asked_as',
  'deliveries[].charge',
  'deliveries[].provider',
  'deliveries[].reason',
  'deliveries[].vendor_code',
  'deliveries[].vendor_text',
  'deliveries[].writer',
]

describe('the shape of a saved verification', () => {
  const savedNow = () => Object.values(GOLDEN_STATES).map(make => make())

  it(`is that of golden/otp.v${OTP_VERSION}.json; if you changed it, raise OTP_VERSION, add a migrator and a golden file`, () => {
    expect(existsSync(fileOf(OTP_VERSION)), 'the golden file of this version').to.equal(true)
    const shape = Object.entries(shapeOf(savedNow(), WORDS))
    const needed = shape.filter(([path]) => !OPTIONAL_MEMBERS.some(member => path === `context.${member}`))
    expect(Object.fromEntries(needed)).to.deep.equal(shapeOf(Object.values(golden(OTP_VERSION)), WORDS))
  })

  it('is the same on every path of the model', () => {
    const walked = statePaths().map(({ end }) => end.context)
    const known = shapeOf(Object.values(golden(OTP_VERSION)).map(({ context }) => context))
    const unknown = Object.entries(shapeOf(walked)).filter(
      ([path, types]) =>
        !OPTIONAL_MEMBERS.includes(path) && !types.split(' | ').every(type => known[path]?.split(' | ').includes(type)),
    )
    expect(unknown).to.deep.equal([])
  })

  it('may lack the members that came later', () => {
    const [saved] = Object.values(golden(OTP_VERSION)).filter(({ value }) => value === 'pending')
    if (!saved) return expect.fail('no golden state is pending')
    const { context } = play(saved, reported('failed', { provider: 'main', reason: 'no_answer' })).saved
    expect(saved.context.deliveries.at(-1)).to.not.have.any.keys('provider', 'reason')
    expect(context.deliveries.at(-1)).to.include({ provider: 'main', reason: 'no_answer' })
  })

  it('survives being written as JSON', () => {
    for (const saved of savedNow()) expect(JSON.parse(JSON.stringify(saved))).to.deep.equal(saved)
  })
})

describe('migrating a saved verification', () => {
  const saved = GOLDEN_STATES['pending, just sent']?.() ?? expect.fail('no such golden state')
  const addMember = (member: string) => (older: OlderOtp) => ({
    ...older,
    context: { ...older.context, [member]: true },
  })

  it('leaves the current version as it is', () => {
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
