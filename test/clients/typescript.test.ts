// The TypeScript client against the running service: what calls answer, throw and repeat. The engine decides nothing here.
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import * as client from '../../clients/typescript/src/index.ts'
import { createRetryBudget, retryWait } from '../../clients/typescript/src/retries.ts'
import { signatureHeaders } from '../../services/domain/webhooks/signed-event.ts'
import type { Caller } from '../support/api-caller.ts'
import { type Flow, freshNumber, startFlow, wrongCode } from '../support/flow.ts'
import { startRawServer } from '../support/raw-server.ts'

const { Countersign, verifyWebhook } = client

/** What a call throws. */
const thrownBy = (call: Promise<unknown>): Promise<client.CountersignError> =>
  call.then(
    () => expect.fail('it did not throw'),
    error => error,
  )

const problem = (status: number, members: object = {}): Response =>
  Response.json({ type: 'ServiceUnavailableError', detail: 'Away.', ...members }, { status })

/** Answers one call after the other, and records what was asked. */
function createFetch(answers: readonly (Response | Error)[]) {
  const waiting = [...answers]
  const asked: { url: string; method: string; key: string | null; body: unknown }[] = []
  const fake: typeof fetch = async (url, init = {}) => {
    const headers = new Headers(init.headers)
    const body = typeof init.body === 'string' ? JSON.parse(init.body) : null
    asked.push({ url: String(url), method: init.method ?? '', key: headers.get('idempotency-key'), body })
    const next = waiting.shift() ?? expect.fail(`an unexpected call of ${url}`)
    if (next instanceof Error) throw next
    return next
  }
  const countersign = new Countersign({ key: 'sk_test_a', baseUrl: 'https://otp.example/', fetch: fake })
  return { asked, countersign }
}

/** A server of the test's own. */
async function serve(answer: RequestListener): Promise<{ baseUrl: string; close(): Promise<unknown> }> {
  const server = createServer(answer)
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    return new Promise(resolve => server.close(resolve))
  }
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

/** Refused before anything was sent, as Node reports it. */
const refused = (): Error => new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } })
const lost = (): Error => new TypeError('fetch failed', { cause: { code: 'UND_ERR_SOCKET' } })
/** Waited for at once, so that no test sleeps. */
const NOW = { retry_after: 0 }

describe('the TypeScript client', () => {
  let flow: Flow
  before(async () => {
    flow = await startFlow({ engines: 'embedded' })
  })
  after(() => flow.stop())

  const clientOf = ({ key }: Caller, options: Partial<client.CountersignOptions> = {}) =>
    new Countersign({ key, baseUrl: flow.countersign.url, ...options })

  it('sends, looks up, verifies and cancels with a server key', async () => {
    const countersign = clientOf((await flow.createTenant()).server)
    const recipient = freshNumber()
    const { otp_id, status, channel } = await countersign.send({ recipient, locale: 'de' })
    expect({ status, channel }).to.deep.equal({ status: 'pending', channel: 'sms' })
    const code = await flow.waitForCode(recipient)
    expect(await countersign.verify({ otp_id, code: wrongCode(code) })).to.include({ matched: false, attempts_left: 4 })
    expect(await countersign.verify({ otp_id, code })).to.include({ matched: true, status: 'approved' })
    expect((await countersign.status({ otp_id })).deliveries).to.have.length(1)
    const other = await countersign.send({ recipient: freshNumber() })
    expect((await countersign.cancel(other)).status).to.equal('canceled')
  })

  it('solves the challenge of a publishable key, and exchanges its token with a server key', async () => {
    const { server, device } = await flow.createTenant({
      publishable_challenge: 'always',
      resend_cooldown_seconds: [0],
    })
    const page = clientOf(device)
    const recipient = freshNumber()
    const { otp_id } = await page.send({ recipient })
    await flow.advance(1)
    expect((await page.resend({ otp_id, channel: 'sms' })).channel).to.equal('sms')
    const { verification_token } = await page.verify({ otp_id, code: await flow.waitForCode(recipient, 2) })
    const proof = await clientOf(server).exchange({ verification_token: verification_token ?? '' })
    expect(proof).to.include({ otp_id, recipient, recipient_type: 'phone' })
  })

  it('throws a class named as the type, with what the answer says', async () => {
    const countersign = clientOf((await flow.createTenant()).server)
    const { otp_id } = await countersign.send({ recipient: freshNumber() })
    const cooldown = await thrownBy(countersign.resend({ otp_id }))
    expect(cooldown).to.be.an.instanceOf(client.ResendCooldownError).and.an.instanceOf(client.CountersignError)
    const { type, name, request_id, message } = cooldown
    expect([type, name]).to.deep.equal(['ResendCooldownError', 'ResendCooldownError'])
    expect(cooldown).to.include({ status: 429, scope: 'resend_cooldown', retry_after: 30 })
    expect(request_id).to.match(/^[\w-]{20,}/)
    expect(message).to.be.a('string').and.not.equal('')
    const invalid = await thrownBy(countersign.send({} as client.SendRequest))
    expect(invalid).to.be.an.instanceOf(client.ValidationError)
    expect(invalid.errors?.[0]?.path).to.equal('recipient')
  })

  it('has a class for every type of the document that the client API can answer', () => {
    const types: string[] = JSON.parse(readFileSync('docs/openapi.json', 'utf8')).components.schemas.ErrorType.enum
    const exported: Record<string, unknown> = client
    const missing = types.filter(type => typeof exported[type] !== 'function')
    expect(missing, 'answered by the admin API alone').to.have.members([
      'StepUpRequiredError',
      'IdempotencyConflictError',
    ])
  })

  it('takes an unknown type, and an answer that is not JSON, by their status', async () => {
    const { countersign } = createFetch([
      problem(418, { type: 'TeapotError' }),
      new Response('<html>', { status: 404 }),
    ])
    const teapot = await thrownBy(countersign.send({ recipient: 'a@example.com' }))
    expect(teapot).to.include({ name: 'TeapotError', status: 418, message: 'Away.' })
    expect(teapot.constructor).to.equal(client.CountersignError)
    expect(await thrownBy(countersign.cancel({ otp_id: 'otp_1' }))).to.include({ type: 'HTTPException', status: 404 })
  })

  it('follows no redirect', async () => {
    const asked: string[] = []
    const { baseUrl, close } = await serve((request, response) => {
      asked.push(request.url ?? '')
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    const error = await thrownBy(new Countersign({ key: 'sk_test_a', baseUrl }).send({ recipient: 'a@b.example' }))
    expect(error).to.be.instanceOf(client.HTTPException).and.include({ status: 307 })
    await close()
    expect(asked).to.deep.equal(['/api/v1/otp/send'])
  })

  it('refuses a key, an address and an idempotency key that cannot be sent, before it sends anything', async () => {
    const usable = { key: 'sk_test_a', baseUrl: 'https://otp.example' }
    for (const wrong of [
      { key: 'sk_live_…' },
      { key: '\n' },
      { key: undefined },
      { baseUrl: 'otp.example' },
      { baseUrl: '/' },
    ])
      expect(() => new Countersign({ ...usable, ...wrong }), JSON.stringify(wrong)).to.throw(TypeError)
    const { asked, countersign } = createFetch([])
    const send = countersign.send({ recipient: 'a@example.com' }, { idempotencyKey: 'Zoë' })
    expect(await thrownBy(send)).to.be.an.instanceOf(TypeError)
    expect(asked).to.deep.equal([])
  })

  it('takes a key as it was read from a file', async () => {
    const sent: (string | null)[] = []
    const answer = async (_: unknown, init?: RequestInit) => {
      sent.push(new Headers(init?.headers).get('authorization'))
      return Response.json({ otp_id: 'otp_1' })
    }
    const countersign = new Countersign({ key: 'sk_test_a\r\n', baseUrl: 'https://otp.example', fetch: answer })
    await countersign.status({ otp_id: 'otp_1' })
    expect(sent).to.deep.equal(['Bearer sk_test_a'])
  })

  it('delivers a code made elsewhere', async () => {
    const answer = { message_id: 'msg_1', channel: 'sms', masked_recipient: '+1****01', status: 'queued' }
    const { asked, countersign } = createFetch([Response.json(answer)])
    const message = { recipient: '+14155560001', code: '123456' }
    expect(await countersign.messages.send(message, { idempotencyKey: 'mine' })).to.deep.equal(answer)
    expect(asked).to.deep.equal([
      { url: 'https://otp.example/api/v1/messages', method: 'POST', key: 'mine', body: message },
    ])
  })

  describe('repeats a call', () => {
    it('of send with the idempotency key of the first, after 5xx and lost connections', async () => {
      const { asked, countersign } = createFetch([problem(503, NOW), lost(), Response.json({ otp_id: 'otp_1' })])
      expect(await countersign.send({ recipient: 'a@example.com' })).to.deep.equal({ otp_id: 'otp_1' })
      expect(asked).to.have.length(3)
      expect(new Set(asked.map(({ key }) => key)).size).to.equal(1)
      expect(asked[0]?.key).to.match(/^[0-9a-f]{32}$/)
    })

    it('of send with a key of its own where the caller gives an empty one', async () => {
      for (const idempotencyKey of ['', '  ', null as never]) {
        const { asked, countersign } = createFetch([problem(503, NOW), Response.json({ otp_id: 'otp_1' })])
        await countersign.send({ recipient: 'a@example.com' }, { idempotencyKey })
        expect(new Set(asked.map(({ key }) => key)).size).to.equal(1)
        expect(asked[0]?.key).to.match(/^[0-9a-f]{32}$/)
      }
    })

    it('twice at most, and not at all after an answer that means it', async () => {
      const { asked, countersign } = createFetch([problem(503, NOW), problem(503, NOW), problem(503, NOW)])
      expect((await thrownBy(countersign.cancel({ otp_id: 'otp_1' }))).status).to.equal(503)
      expect(asked).to.have.length(3)
      const limited = createFetch([problem(429, { type: 'RateLimitExceededError', retry_after: 1 })])
      expect(await thrownBy(limited.countersign.send({ recipient: 'a@example.com' }))).to.be.an.instanceOf(
        client.RateLimitExceededError,
      )
    })

    it('of resend and verify only if it certainly was not executed', async () => {
      const unexecuted = problem(503, { ...NOW, executed: false })
      const safe = createFetch([refused(), unexecuted, Response.json({ matched: true })])
      expect(await safe.countersign.verify({ otp_id: 'otp_1', code: '1' })).to.deep.equal({ matched: true })
      for (const unknown of [lost(), problem(503, { ...NOW, detail: 'Nothing was executed.' })]) {
        const { countersign } = createFetch([unknown])
        expect((await thrownBy(countersign.resend({ otp_id: 'otp_1' }))).status).to.be.oneOf([0, 503])
      }
    })

    it('sends one code when the answer of a send is lost', async () => {
      const { server } = await flow.createTenant()
      const recipient = freshNumber()
      const countersign = clientOf(server, { fetch: losingFirst('/otp/send') })
      const { otp_id } = await countersign.send({ recipient })
      const code = await flow.waitForCode(recipient)
      expect((await countersign.verify({ otp_id, code })).matched).to.equal(true)
    })

    it('gets the lost answer of a right code, and spends one attempt on a wrong one', async () => {
      const { device } = await flow.createTenant()
      const { otp_id, code } = await flow.startVerification(device)
      const losing = () => clientOf(device, { fetch: losingFirst('/otp/verify') })
      const wrong = await thrownBy(losing().verify({ otp_id, code: wrongCode(code) }))
      expect(wrong).to.be.an.instanceOf(client.ConnectionError)
      expect((await clientOf(device).status({ otp_id })).attempts_left).to.equal(4)
      const right = await losing().verify({ otp_id, code })
      expect(right).to.include({ matched: true, attempts_left: 4 })
      expect(right.verification_token).to.match(/^otp_vt_/)
    })

    /** A fetch that loses the first answer of a path: the server has executed the call. */
    function losingFirst(path: string): typeof fetch {
      let isLost = false
      return async (url, init) => {
        const response = await fetch(url, init)
        if (isLost || !String(url).endsWith(path)) return response
        isLost = true
        throw lost()
      }
    }

    it('after a random wait that grows, or after the time that the server asks for', () => {
      expect([0, 1, 2, 9].map(repetition => retryWait(repetition, null, 1))).to.deep.equal([500, 1000, 2000, 8000])
      expect(retryWait(3, null, 0)).to.equal(0)
      expect([retryWait(0, 2, 0), retryWait(0, 2, 1)]).to.deep.equal([2000, 2500])
      expect(retryWait(0, 21, 0), 'too long to wait for').to.equal(null)
    })

    it('within a budget, which successes refill', () => {
      const budget = createRetryBudget()
      expect(Array.from({ length: 11 }, budget.take)).to.deep.equal([...Array(10).fill(true), false])
      for (let n = 0; n < 11; n += 1) budget.succeeded()
      expect([budget.take(), budget.take()]).to.deep.equal([true, false])
    })
  })

  it('gives up after its timeout, and at once when its caller aborts', async () => {
    const silent = await startRawServer(() => {})
    const countersign = new Countersign({ key: 'sk_test_a', baseUrl: `http://127.0.0.1:${silent.port}`, maxRetries: 0 })
    const late = await thrownBy(countersign.status({ otp_id: 'otp_1' }, { timeout: 20 }))
    expect(late)
      .to.be.an.instanceOf(client.ConnectionError)
      .and.include({ status: 0, message: 'No answer within 20 ms.' })
    const reason = new Error('the user left')
    const ending = new AbortController()
    const call = thrownBy(countersign.send({ recipient: 'a@example.com' }, { signal: ending.signal }))
    ending.abort(reason)
    expect(await call).to.equal(reason)
    await silent.close()
  })

  it('does not ask how far a verification got whose verify certainly was not executed', async () => {
    for (const unexecuted of [refused(), problem(503, { ...NOW, executed: false })]) {
      const { asked, countersign } = createFetch([unexecuted])
      await thrownBy(countersign.verify({ otp_id: 'otp_1', code: '1' }, { maxRetries: 0 }))
      expect(asked.map(({ url }) => url)).to.deep.equal(['https://otp.example/api/v1/otp/verify'])
    }
  })

  it('ends a verify when its caller aborts while it asks how far the verification got', async () => {
    const reason = new Error('the user left')
    const ending = new AbortController()
    const losing: typeof fetch = async url => {
      if (String(url).endsWith('/otp/otp_1')) ending.abort(reason)
      throw lost()
    }
    const countersign = new Countersign({ key: 'sk_test_a', baseUrl: 'https://otp.example', fetch: losing })
    const call = countersign.verify({ otp_id: 'otp_1', code: '1' }, { signal: ending.signal })
    expect(await thrownBy(call)).to.equal(reason)
  })

  it('stops solving a challenge when its caller aborts', async () => {
    const challenge = { type: 'pow', algorithm: 'SHA-256', salt: 'c2FsdA', difficulty: 32, signature: 'x' }
    const ending = new AbortController()
    const { baseUrl, close } = await serve((_, response) => {
      response.writeHead(403, { 'content-type': 'application/problem+json' })
      response.end(JSON.stringify({ type: 'ChallengeRequiredError', challenge }), () => ending.abort())
    })
    const countersign = new Countersign({ key: 'pk_test_a', baseUrl })
    const error = await thrownBy(countersign.send({ recipient: 'a@example.com' }, { signal: ending.signal }))
    expect(error.name).to.equal('AbortError')
    await close()
  })
})

describe('the widget of a vendor in the TypeScript client', () => {
  const asked = { type: 'hcaptcha', site_key: 'site' }

  /** Asks for the widget until a call brings `a token`. */
  async function asking(test: (baseUrl: string, brought: (string | undefined)[]) => Promise<void>): Promise<void> {
    const brought: (string | undefined)[] = []
    const { baseUrl, close } = await serve(({ headers }, response) => {
      const solution = headers['challenge-solution'] as string | undefined
      brought.push(solution)
      const isSolved = solution === 'a token'
      response.writeHead(isSolved ? 200 : 403, { 'content-type': 'application/json' })
      const refusal = { type: 'ChallengeRequiredError', challenge: asked }
      response.end(JSON.stringify(isSolved ? { otp_id: 'otp_1' } : refusal))
    })
    await test(baseUrl, brought).finally(close)
  }

  it('is solved by what the app gives the client', () =>
    asking(async (baseUrl, brought) => {
      const challenges: unknown[] = []
      const solveWidget = async (challenge: unknown) => {
        challenges.push(challenge)
        return challenges.length === 1 ? 'a late token' : 'a token'
      }
      const countersign = new Countersign({ key: 'pk_test_a', baseUrl, solveWidget })
      expect(await countersign.send({ recipient: 'a@example.com' })).to.deep.equal({ otp_id: 'otp_1' })
      expect(challenges).to.deep.equal([asked, asked])
      expect(brought).to.deep.equal([undefined, 'a late token', 'a token'])
    }))

  it('is the refusal where nothing can show it, with the cause where it was not solved', () =>
    asking(async baseUrl => {
      const alone = await thrownBy(new Countersign({ key: 'pk_test_a', baseUrl }).send({ recipient: 'a@example.com' }))
      expect(alone).to.be.an.instanceOf(client.ChallengeRequiredError)
      expect(alone.problem.challenge).to.deep.equal(asked)
      const solveWidget = async () => Promise.reject(new Error('closed'))
      const closed = new Countersign({ key: 'pk_test_a', baseUrl, solveWidget })
      const error = await thrownBy(closed.send({ recipient: 'a@example.com' }))
      expect(error).to.be.an.instanceOf(client.ChallengeRequiredError)
      expect((error.cause as Error).message).to.equal('closed')
    }))
})

describe('verifyWebhook of the TypeScript client', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const event = { id: 'evt_1', type: 'otp.approved', payload: { otp_id: 'otp_1', status: 'approved' } }
  const body = JSON.stringify(event)
  const sign = (secrets: readonly [string, ...string[]] = [secret], at = Date.now()) =>
    signatureHeaders({ id: event.id, body, at, secrets })
  const only = (headers: Record<string, string>, prefix: string) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith(prefix)))

  it('gives the event of a genuine request, in whatever form its body and headers come', async () => {
    for (const raw of [body, Buffer.from(body), new TextEncoder().encode(body).buffer])
      expect(await verifyWebhook(raw, sign(), secret)).to.deep.equal(event)
    const headers = sign()
    const shouting = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]))
    for (const form of [new Headers(headers), shouting, only(headers, 'webhook-'), only(headers, 'x-webhook-')])
      expect(await verifyWebhook(body, form, secret)).to.deep.equal(event)
  })

  it('accepts each of several secrets and signatures, so that a secret can be replaced', async () => {
    expect(await verifyWebhook(body, sign(['whsec_b2xk', secret]), secret)).to.deep.equal(event)
    expect(await verifyWebhook(body, sign(), ['whsec_b2xk', secret])).to.deep.equal(event)
    expect(await verifyWebhook(body, sign(['not base64!']), 'not base64!')).to.deep.equal(event)
  })

  it('refuses what is forged, stale or unsigned', async () => {
    const old = sign([secret], Date.now() - 301_000)
    const cases: [string, string, Record<string, string>, string | string[]][] = [
      ['another body', body.replace('otp_1', 'otp_2'), sign(), secret],
      ['another secret', body, sign(['whsec_b2xk']), secret],
      ['another id', body, { ...only(sign(), 'webhook-'), 'webhook-id': 'evt_2' }, secret],
      ['an old request', body, old, secret],
      ['an old request of our own scheme', body, only(old, 'x-webhook-'), secret],
      ['a request from the future', body, sign([secret], Date.now() + 600_000), secret],
      ['a new timestamp', body, { ...old, 'webhook-timestamp': `${Math.floor(Date.now() / 1000)}` }, secret],
      ['a timestamp that is no number', body, { ...sign(), 'webhook-timestamp': 'now' }, secret],
      ['no headers', body, {}, secret],
      ['a signature cut short', body, { ...only(sign(), 'x-webhook-'), 'x-webhook-signature': 'e6' }, secret],
    ]
    for (const [title, raw, headers, key] of cases)
      expect(await thrownBy(verifyWebhook(raw, headers, key)), title).to.be.an.instanceOf(
        client.WebhookVerificationError,
      )
    expect(await verifyWebhook(body, old, secret, { toleranceSeconds: 400 })).to.deep.equal(event)
    expect(await thrownBy(verifyWebhook(event as never, sign(), secret))).to.be.an.instanceOf(TypeError)
    for (const none of [undefined, '', [], [''], [undefined as never]])
      expect(await thrownBy(verifyWebhook(body, sign(), none))).to.be.an.instanceOf(TypeError)
    expect(await verifyWebhook(body, sign(), [undefined as never, secret])).to.deep.equal(event)
  })
})
