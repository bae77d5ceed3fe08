// Live sends to one provider that works, while processes are killed, links are cut and the store's answers are lost. Every send that was
// answered with 200 arrives at the provider. A code that arrives twice does no harm, but is not the ordinary case.

import process from 'node:process'
import { expect } from 'chai'
import { AMQP_URL, MONGODB_URL, onRealEngines } from '../../support/engines.ts'
import { eventually } from '../../support/eventually.ts'
import { faultRounds, stepsOn } from '../../support/fault-rounds.ts'
import { LIVE_SEND_ENV, type LiveSends, useLiveSends } from '../../support/live-sends.ts'
import { openMongoBehindProxy } from '../../support/mongo.ts'
import { type CountersignProcess, useProcesses } from '../../support/processes.ts'
import { openRabbitBehindProxy } from '../../support/rabbitmq.ts'
import { onEachEngineSet } from '../../support/site.ts'

const KILLS = faultRounds(3)
const CUTS = faultRounds(2)
const STOPS = faultRounds(1)
/** A quick provider, and one that answers just in time. */
const GATEWAYS_MS = [200, 6_000]
const ACCEPTED_PER_KILL = 60
const ACCEPTED_PER_CUT = 100

/** Prints what was measured. Times are not asserted, because they depend on the machine; the aims are 3 s after a restart and 5 s after a
 *  cut. */
const report = (what: string, sends: LiveSends, more: object = {}): void =>
  void process.stdout.write(
    `      ${what}: ${JSON.stringify({ accepted: sends.accepted(), arrivals: sends.arrivalCounts(), ...more })}\n`,
  )

/** A provider is called five times at most for one send while processes die: see services/channel/next-step.ts. */
function expectFewCallsPerSend(sends: LiveSends): void {
  expect(Math.max(...Object.keys(sends.arrivalCounts()).map(Number))).to.be.at.most(5)
}

/** A living process knows what it has called. */
function expectFewRepeats(sends: LiveSends): void {
  const { 0: _, 1: once = 0, ...repeated } = sends.arrivalCounts()
  const repeats = Object.values(repeated).reduce((sum, count) => sum + count, 0)
  expect(repeats).to.be.at.most(once / 20)
}

onEachEngineSet('a process that plays every role and is killed again and again', engines => {
  const { site, crashing } = useProcesses()
  const open = useLiveSends()
  const rounds = { 'soon after each restart': killAfterEachRestart, 'killed again before it has caught up': killInARow }

  for (const name of stepsOn(engines, Object.keys(rounds) as (keyof typeof rounds)[]))
    it(`sends everything that it accepted: ${name}`, function () {
      this.timeout(600_000)
      return rounds[name]()
    })

  async function killAfterEachRestart(): Promise<void> {
    const here = await site(engines, LIVE_SEND_ENV)
    const sends = await open(here)
    const lateMs: number[] = []
    for (let kills = 0; kills <= KILLS; kills += 1) {
      const running = crashing(here, { env: sends.env })
      await running.url()
      const restartedAt = Date.now()
      await sends.waitForAll()
      lateMs.push(sends.lastArrivalAfter(restartedAt))
      if (kills < KILLS) await sendAndKill(sends, running)
    }
    report(`${KILLS} kills, ${engines}`, sends, { lateMs })
    expectFewCallsPerSend(sends)
  }

  async function killInARow(): Promise<void> {
    const here = await site(engines, LIVE_SEND_ENV)
    const sends = await open(here)
    for (let kills = 0; kills < KILLS; kills += 1) await sendAndKill(sends, crashing(here, { env: sends.env }))
    await crashing(here, { env: sends.env }).ready()
    await sends.waitForAll()
    report(`${KILLS} kills in a row, ${engines}`, sends)
    expectFewCallsPerSend(sends)
  }

  /** Waits until the process is ready, and kills it in the middle of many sends. */
  async function sendAndKill(sends: LiveSends, running: CountersignProcess): Promise<void> {
    const url = await running.ready()
    await sends.sendUntil(url, ACCEPTED_PER_KILL, async () => {
      running.process.kill('SIGKILL')
      await running.exited
    })
  }
})

onRealEngines('roles in processes of their own', { AMQP_URL, MONGODB_URL }, () => {
  const { site, crashing } = useProcesses()
  const open = useLiveSends()
  const proxies: { close(): Promise<void> }[] = []
  afterEach(() => Promise.all(proxies.splice(0).map(proxy => proxy.close())))

  it('send everything that was accepted when any of them is killed', async function () {
    this.timeout(600_000)
    const here = await site('real', LIVE_SEND_ENV)
    const sends = await open(here)
    const start = (...roles: string[]) => crashing(here, { env: sends.env, roles })
    const url = await start('edge').ready()
    await start('webhook', 'sweeper').ready()
    const victims = [['channel:sms'], ['otp'], ['channel:sms']]
    const running = await Promise.all(
      victims.map(async roles => {
        const one = start(...roles)
        await one.ready()
        return one
      }),
    )
    for (let kills = 0; kills < KILLS; kills += 1) {
      const index = kills % victims.length
      await sends.sendUntil(url, ACCEPTED_PER_KILL, async () => {
        running[index]?.process.kill('SIGKILL')
        const next = start(...(victims[index] ?? []))
        await next.ready()
        running[index] = next
      })
    }
    await sends.waitForAll()
    report(`${KILLS} kills of roles`, sends, { slowestMs: sends.slowestMs() })
    expectFewCallsPerSend(sends)
  })

  for (const gatewayMs of GATEWAYS_MS)
    it(`send nothing twice when one is told to stop, with a provider that takes ${gatewayMs} ms`, async function () {
      this.timeout(600_000)
      const here = await site('real', LIVE_SEND_ENV)
      const sends = await open(here, { gatewayMs })
      const start = async (...roles: string[]) => {
        const one = crashing(here, { env: sends.env, roles })
        return { one, url: await one.ready() }
      }
      const [{ url }] = await Promise.all([start('edge', 'otp'), start('webhook', 'sweeper'), start('channel:sms')])
      let stopping = (await start('channel:sms')).one
      for (let stops = 0; stops < STOPS; stops += 1) {
        const calls = stopping.lines.length
        await sends.sendDuring(url, async () => {
          // A call has ended, so that others are under way.
          await eventually(() => expect(stopping.lines.slice(calls).join()).to.include('delivery.attempted'))
          const next = start('channel:sms')
          stopping.process.kill('SIGTERM')
          expect(await stopping.exited).to.deep.equal({ code: 0, signal: null })
          stopping = (await next).one
        })
      }
      await sends.waitForAll()
      report(`${STOPS} stops with calls of ${gatewayMs} ms`, sends)
      expect(Object.keys(sends.arrivalCounts())).to.deep.equal(['1'])
    })

  it('send everything that was accepted soon after the links to RabbitMQ are cut', async function () {
    this.timeout(600_000)
    const { proxy, url: amqp } = await openRabbitBehindProxy()
    proxies.push(proxy)
    const here = await site('real', { ...LIVE_SEND_ENV, AMQP_URL: amqp })
    const sends = await open(here)
    const url = await crashing(here, { env: sends.env }).ready()
    await crashing(here, { env: sends.env, roles: ['otp', 'channel:sms'] }).ready()
    for (let cuts = 0; cuts < CUTS; cuts += 1) await sends.sendUntil(url, ACCEPTED_PER_CUT, async () => proxy.cut())
    await sends.waitForAll()
    report(`${CUTS} cuts`, sends, { slowestMs: sends.slowestMs() })
    expectFewRepeats(sends)
  })

  it('send everything that was accepted when MongoDB’s answers to attempts are lost', async function () {
    this.timeout(600_000)
    const mongo = await openMongoBehindProxy()
    proxies.push(mongo)
    const here = await site('real', { ...LIVE_SEND_ENV, MONGODB_URL: mongo.url })
    const sends = await open(here)
    const url = await crashing(here, { env: sends.env }).ready()
    for (let losses = 0; losses < CUTS; losses += 1) {
      // The driver repeats a write whose answer it did not get, so both answers are lost.
      await sends.sendUntil(url, ACCEPTED_PER_CUT, async () => mongo.proxy.loseReplyTo('attempts', 4))
    }
    await sends.waitForAll()
    report(`${CUTS} times four lost answers`, sends, { slowestMs: sends.slowestMs() })
    expectFewRepeats(sends)
  })
})
