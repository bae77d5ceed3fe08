// kill -9 in the midst of sends. What was answered with 200 is there after the restart and is delivered; what was not answered can be
// asked again with its idempotency key; nobody gets two codes, and nobody pays for what he did not get.
import { expect } from 'chai'
import { type Burst, burst, OPENING, PRICE } from '../support/burst.ts'
import { eventually } from '../support/eventually.ts'
import { processes } from '../support/processes.ts'
import { onEachEngineSet } from '../support/site.ts'

const ROUNDS = 3
const CALLERS = 32
const ACCEPTED_PER_ROUND = 60
const ENOUGH_MS = 60_000

onEachEngineSet('a burst of sends and kill -9', engines => {
  const { site, script } = processes()

  it('loses nothing that was accepted and sends nothing twice', async function () {
    this.timeout(180_000)
    const world = await burst({ site, script }, engines)
    const asked = numbers()
    const accepted = new Map<string, string>()
    const unanswered = new Set<string>()
    for (let round = 0; round < ROUNDS; round += 1) {
      const { url, kill } = await world.start()
      const enough = accepted.size + ACCEPTED_PER_ROUND
      const one = async (): Promise<void> => {
        for (let going = true; going; ) {
          const recipient = asked.next().value
          unanswered.add(recipient)
          going = settled(await world.send(url, recipient), recipient, accepted, unanswered)
          if (accepted.size >= enough) await kill()
        }
      }
      await Promise.all(Array.from({ length: CALLERS }, one))
      expect(accepted.size).to.be.at.least(enough)
    }
    expect(unanswered.size, 'some were cut off').to.be.greaterThan(0)

    const { url } = await world.start()
    await repeated(world, url, unanswered, accepted)
    const all = [...accepted.values()].sort()
    expect((await world.otpIds(url)).sort()).to.deep.equal(all)
    await eventually(async () => expect((await world.deliveredEvents(url)).sort()).to.deep.equal(all), ENOUGH_MS)
    for (const [recipient, otp_id] of accepted) await world.delivered(url, recipient, otp_id)
    await world.balance(url, OPENING - accepted.size * PRICE)
  })
})

describe('a send that is cut off by kill -9', () => {
  const { site, script } = processes()

  it('between its steps makes one verification and one message once it is asked again', async function () {
    this.timeout(120_000)
    const world = await burst({ site, script }, 'embedded')
    const asked = numbers()
    const cutOff = new Set<string>()
    for (const method of ['claims.insert', 'companies.modify', 'ledger.insert', 'otps.insert']) {
      const dying = await world.start({ port: 'store', method, nth: 1, when: 'after' })
      const recipient = asked.next().value
      expect(await world.send(dying.url, recipient), 'no answer').to.equal(null)
      expect((await dying.exited).signal).to.equal('SIGKILL')
      cutOff.add(recipient)
    }
    const { url } = await world.start()
    const accepted = new Map<string, string>()
    await repeated(world, url, cutOff, accepted)
    for (const [recipient, otp_id] of accepted) await world.delivered(url, recipient, otp_id)
    expect((await world.otpIds(url)).sort()).to.deep.equal([...accepted.values()].sort())
    await world.balance(url, OPENING - accepted.size * PRICE)
  })
})

/** Whether the caller goes on: it does until it is not answered. */
function settled(
  answer: Awaited<ReturnType<Burst['send']>>,
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

/** Whoever got no answer asks again until there is one: a claim of the dead is waited for. */
async function repeated(
  world: Burst,
  url: string,
  unanswered: Set<string>,
  accepted: Map<string, string>,
): Promise<void> {
  await Promise.all(
    [...unanswered].map(recipient =>
      eventually(async () => {
        const answer = await world.send(url, recipient)
        expect(settled(answer, recipient, accepted, unanswered), recipient).to.equal(true)
      }, ENOUGH_MS),
    ),
  )
}

function* numbers(): Generator<string, string> {
  for (let n = 0; ; n += 1) yield `+1415557${String(n).padStart(4, '0')}`
}
