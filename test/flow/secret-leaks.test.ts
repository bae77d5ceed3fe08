// After a scenario with every kind of call, no secret and no recipient is readable in a log line, a broker message, a stored document or
// a metric, and no code in an API answer, though the endpoint of webhooks echoes all it can know. Masked recipients may appear: they are
// meant to be shown.
import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { Answer } from '../support/api-caller.ts'
import { type BrokerRecorder, createBrokerRecorder } from '../support/broker-recorder.ts'
import { CACHE_TTL_MS, type Flow, freshNumber, startFlow, wrongCode } from '../support/flow.ts'
import { collectionNames, dataFiles, rawDocuments } from '../support/raw-documents.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { onEachEngineSet } from '../support/site.ts'

/** Codes have eight digits here: six digits can appear by chance in an id or a time. */
const CODES = { code: { length: 8 }, resend_cooldown_seconds: [0] }
const LINKS = { channels: { whatsapp: { mode: 'link_code', business_number: '+15550001111' } } }

interface Scenario {
  secrets: Map<string, string>
  codes: string[]
  answers: Answer[]
  otp_ids: string[]
}

/** `told`: what an endpoint may know of people. */
async function runScenario(flow: Flow, endpoint: Receiver, told: string[]): Promise<Scenario> {
  const secrets = new Map<string, string>()
  const codes: string[] = []
  const answers: Answer[] = []
  const collect = async (answer: Promise<Answer>): Promise<Answer['body']> => {
    answers.push(await answer)
    return (await answer).body
  }
  const receivedCode = async (to: string, messages = 1): Promise<string> => {
    const code = await flow.waitForCode(to, messages)
    codes.push(code, wrongCode(code))
    told.push(code)
    return code
  }
  const number = (): string => {
    const to = freshNumber()
    secrets.set(`number ${to}`, to.slice(2))
    told.push(to)
    return to
  }
  const shop = await flow.createTenant({ ...CODES, auto_fallback: true })
  const chat = await flow.createTenant({ ...CODES, ...LINKS, routing: { default: ['whatsapp', 'sms'] } })
  for (const { app } of [shop, chat])
    await flow.admin('PUT', `/apps/${app}/webhook`, { url: `http://127.0.0.1:${endpoint.port}/hooks` })
  await flow.advance(CACHE_TTL_MS)
  for (const { key } of [shop.server, shop.device, chat.server]) secrets.set(`key ${key}`, key)
  const otp_ids: string[] = []

  // A verification by a server key, with a client address and an idempotency key: one wrong code, a resend with a fresh code, approval.
  const [one, idempotency] = [number(), randomUUID()]
  secrets
    .set('idempotency key', idempotency)
    .set('metadata', 'for Augusta')
    .set('client_ip', '81.2.69.142')
    .set('client_ip v6', '2a02:cf40:1:2::3')
  const { otp_id } = await collect(
    shop.server.send(one, { idempotency, client_ip: '81.2.69.142', metadata: { note: 'for Augusta' } }),
  )
  await collect(shop.server.send(one, { idempotency }))
  await collect(shop.server.verify(otp_id, wrongCode(await receivedCode(one))))
  await collect(shop.server.resend(otp_id, 'telegram'))
  await collect(shop.server.verify(otp_id, await receivedCode(one, 2)))
  await collect(shop.server.status(otp_id))

  // A verification by a publishable key, by email; its token is exchanged by its own app and tried by another.
  secrets.set('address', 'augusta.ada.king').set("device's address", '93.184.215.14')
  const mail = 'augusta.ada.king@example.com'
  told.push(mail)
  const second = await collect(shop.device.send(mail, { forwarded: '93.184.215.14' }))
  const { verification_token } = await collect(shop.device.verify(second.otp_id, await receivedCode(mail)))
  secrets.set('token', verification_token).set('proof of the token', verification_token.slice(-43))
  answers.push(await chat.server.exchange(verification_token))
  await collect(shop.server.exchange(verification_token))

  // A link that fetches a code, with a message from another number, and then a cancel.
  const [third, other] = [number(), number()]
  const linked = await collect(chat.server.send(third, { client_ip: '2a02:cf40:1:2::3' }))
  const text = new URL(linked.action_url).searchParams.get('text') ?? ''
  secrets.set('reference of the link', text.match(/[2-9A-HJ-NP-Z]{16}/)?.[0] ?? '')
  for (const from of [other, third]) await flow.admin('POST', '/sandbox/inbound', { app_id: chat.app, from, text })
  await receivedCode(third)
  await collect(chat.server.cancel(linked.otp_id))

  // Refusals: an invalid recipient, an invalid client address, an exceeded limit, a code for an unknown verification.
  secrets.set('invalid recipient', 'not.a.recipient').set('invalid address', '300.11.22.33')
  await collect(shop.server.send('not.a.recipient@'))
  await collect(shop.server.send(number(), { client_ip: '300.11.22.33' }))
  for (let nth = 0; nth < 6; nth += 1) await collect(shop.server.send(one))
  await collect(shop.server.verify(`${otp_id.slice(0, -1)}x`, codes[0] ?? ''))

  // Deliveries that fail, that fall back, and whose receipt comes twice.
  for (const recipient of ['+15005550011', '+15005550016', 'twice@magic.test'])
    await collect(shop.server.send(recipient))
  secrets.set('admin token', flow.countersign.secrets.adminTokens[0]?.token ?? '')
  const stored = async () => (await flow.events(shop.app)).filter(({ type }) => type === 'otp.approved')
  await flow.eventually(async () => {
    const answers = (await stored()).map(({ attempts }) => attempts[0]?.response ?? '')
    expect(answers).to.have.length(2)
    for (const answer of answers) expect(answer).to.match(/^told: .*\[(phone|number)\]/)
  })
  otp_ids.push(otp_id, second.otp_id, linked.otp_id)
  return { secrets, codes, answers, otp_ids }
}

onEachEngineSet('after a scenario with every kind of call', engines => {
  let flow: Flow
  let endpoint: Receiver
  let recorder: BrokerRecorder
  let scenario: Scenario
  before(async () => {
    recorder = createBrokerRecorder()
    const told: string[] = []
    endpoint = await startReceiver((_, response) => void response.end(`told: ${told.join(', ')}`))
    flow = await startFlow({
      engines,
      env: { ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' },
      decorate: ({ broker, store }) => ({ broker: recorder.wrap(broker), store }),
    })
    scenario = await runScenario(flow, endpoint, told)
    await flow.eventually(async () => {
      const otps = await rawDocuments(flow.countersign.engines.store, 'otps')
      expect(otps.filter(one => one.includes('"outbox":[{'))).to.deep.equal([])
    })
  })
  after(async () => {
    await flow.stop()
    await endpoint.close()
  })

  const expectNone = (where: string, texts: readonly string[]): void => {
    const text = texts.join('\n')
    for (const [name, secret] of scenario.secrets) {
      expect(secret, name).to.not.equal('')
      expect(text.includes(secret), `${name} in ${where}`).to.equal(false)
    }
    expectNoCode(where, text)
  }
  const expectNoCode = (where: string, text: string): void => {
    expect(scenario.codes.length).to.be.greaterThan(5)
    for (const code of scenario.codes)
      expect(new RegExp(`(?<!\\d)${code}(?!\\d)`).test(text), `a code in ${where}`).to.equal(false)
  }

  it('no log line contains a secret or a recipient', () => {
    const lines = flow.countersign.log.output().split('\n')
    for (const otp_id of scenario.otp_ids) expect(lines.join('\n')).to.include(otp_id)
    expectNone('the log', lines)
  })

  it('no broker message contains a secret or a recipient', () => {
    const kinds = recorder.messages().map(line => JSON.parse(line).slice(0, 2).join(' '))
    expect(new Set(kinds)).to.include.keys(
      'request otp.calls',
      'reply otp.calls',
      'publish otp.reports',
      'publish channel.sms',
    )
    expectNone('a message', recorder.messages())
  })

  it('no stored document contains a secret or a recipient', async () => {
    const { store } = flow.countersign.engines
    for (const name of collectionNames) expectNone(`a document of ${name}`, await rawDocuments(store, name))
    const otps = (await rawDocuments(store, 'otps')).join()
    for (const otp_id of scenario.otp_ids) expect(otps).to.include(otp_id)
  })

  it('no metric contains a secret or a recipient', async () => {
    const token = flow.countersign.secrets.adminTokens[0]?.token
    const metrics = await fetch(`${flow.countersign.url}/metrics`, { headers: { Authorization: `Bearer ${token}` } })
    expect(metrics.status).to.equal(200)
    expectNone('the metrics', [await metrics.text()])
  })

  it('no API answer contains a code, and recipients in answers are masked', () => {
    for (const { text } of scenario.answers) expectNoCode('an answer', text)
    const masks = scenario.answers.flatMap(({ body }) => body.masked_recipient ?? [])
    for (const mask of masks) expect(mask).to.match(/^(\+1\*{4}\d\d|[a-z]\*{4}@(example\.com|magic\.test))$/)
  })

  if (engines === 'embedded')
    it('no file on disk contains a secret or a recipient', async () => {
      const bytes = await dataFiles(flow.countersign.config.dataDir)
      for (const otp_id of scenario.otp_ids)
        expect(
          bytes.some(each => each.includes(otp_id)),
          otp_id,
        ).to.equal(true)
      expectNone('a file', bytes)
    })
})
