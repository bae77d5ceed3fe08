// kill -9 during many sends. A send that was answered with 200 is stored and delivered after the restart. A send without an answer can be
// repeated with its idempotency key. No recipient gets two codes, and no company pays for a message that was not delivered.
import { expect } from 'chai'
import { type BurstSite, createBurstSite, OPENING_BALANCE, PRICE } from '../../support/burst-site.ts'
import { eventually } from '../../support/eventually.ts'
import { faultRounds } from '../../support/fault-rounds.ts'
import { useProcesses } from '../../support/processes.ts'
import { onEachEngineSet } from '../../support/site.ts'

const ROUNDS = faultRounds(2)
const CALLERS = 32
const ACCEPTED_PER_ROUND = 60

onEachEngineSet('a burst of sends and kill -9', engines => {
  const { site, crashing } = useProcesses()

  it('loses no accepted send and delivers none twice', async () => {
    const burstSite = await createBurstSite({ site, crashing }, engines)
    const recipients = phoneNumbers()
    const accepted = new Map<string, string>()
    const unanswered = new Set<string>()
    for (let round = 0; round < ROUNDS; round += 1) {
      const { url, kill } = await burstSite.start()
      const enough = accepted.size + ACCEPTED_PER_ROUND
      let isKilled = false
      // A process that has just started may answer 503 on a busy machine; then the caller goes on with another recipient.
      const sendUntilKilled = async (): Promise<void> => {
        while (!isKilled) {
          const recipient = recipients.next().value
          unanswered.add(recipient)
          recordAnswer(await burstSite.send(url, recipient), recipient, accepted, unanswered)
          if (accepted.size < enough || isKilled) continue
          isKilled = true
          await kill()
        }
      }
      await Promise.all(Array.from({ length: CALLERS }, sendUntilKilled))
      expect(accepted.size).to.be.at.least(enough)
    }
    expect(unanswered.size, 'some were cut off').to.be.greaterThan(0)

    const { url } = await burstSite.start()
    await repeatSends(burstSite, url, unanswered, accepted)
    const all = [...accepted.values()].sort()
    expect((await burstSite.otpIds(url)).sort()).to.deep.equal(all)
    await eventually(async () => expect((await burstSite.deliveredEvents(url)).sort()).to.deep.equal(all))
    for (const [recipient, otp_id] of accepted) await burstSite.expectDelivered(url, recipient, otp_id)
    await burstSite.expectBalance(url, OPENING_BALANCE - accepted.size * PRICE)
  })
})

describe('a send that is cut off by kill -9', () => {
  const { site, crashing } = useProcesses()

  // Each on a site of its own: a process that repairs what the one before it left may make the same call before it is ready.
  for (const [when, method] of [
    ['after', 'claims.insert'],
    ['after', 'companies.modify'],
    ['after', 'otps.insert'],
    // The last step. Once it is done, the send may have been answered.
    ['before', 'ledger.insert'],
  ] as const)
    it(`${when} ${method} makes one verification and one message when it is repeated`, async () => {
      const burstSite = await createBurstSite({ site, crashing }, 'embedded')
      const recipient = phoneNumbers().next().value
      // The opening balance is an entry too: reading the ledger writes it, before a process dies at such a write.
      const first = await burstSite.start()
      await burstSite.ledger(first.url)
      await first.kill()
      const dying = await burstSite.start({ port: 'store', method, nth: 1, when })
      expect(await burstSite.send(dying.url, recipient), 'no answer').to.equal(null)
      expect((await dying.exited).signal).to.equal('SIGKILL')
      const { url } = await burstSite.start()
      const accepted = new Map<string, string>()
      await repeatSends(burstSite, url, new Set([recipient]), accepted)
      const otp_id = accepted.get(recipient) ?? ''
      await burstSite.expectDelivered(url, recipient, otp_id)
      expect(await burstSite.otpIds(url)).to.deep.equal([otp_id])
      await burstSite.expectBalance(url, OPENING_BALANCE - PRICE)
    })
})

/** Records an answer. Answers false when there was none. */
function recordAnswer(
  answer: Awaited<ReturnType<BurstSite['send']>>,
  recipient: string,
  accepted: Map<string, string>,
  unanswered: Set<string>,
): boolean {
  if (answer === null) return false
  expect(answer.status, answer.text).to.equal(200)
  accepted.set(recipient, answer.body.otp_id)
  unanswered.delete(recipient)
  return true
}

/** Repeats sends until they are answered. The idempotency claim of a dead process is taken over after a while. */
async function repeatSends(
  burstSite: BurstSite,
  url: string,
  unanswered: Set<string>,
  accepted: Map<string, string>,
): Promise<void> {
  await Promise.all(
    [...unanswered].map(recipient =>
      eventually(async () => {
        const answer = await burstSite.send(url, recipient)
        expect(recordAnswer(answer, recipient, accepted, unanswered), recipient).to.equal(true)
      }),
    ),
  )
}

function* phoneNumbers(): Generator<string, string> {
  for (let n = 0; ; n += 1) yield `+1415557${String(n).padStart(4, '0')}`
}
