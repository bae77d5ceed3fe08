import { Router } from '@koa/router'
import { expect } from 'chai'
import Koa from 'koa'
import { CallFailed, CallTimeout, Unroutable } from '../../../infra/broker/broker.ts'
import { httpException } from '../../../infra/http/problem.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { problem } from '../../../services/domain/errors.ts'
import { routerWith, useShellServers } from '../../support/http-shell.ts'

/** An error as Koa, its parsers and `ctx.throw` make it. */
const libraryError = (status: number, message: string): Error => {
  try {
    return new Koa().context.throw(status, message)
  } catch (error) {
    return error as Error
  }
}

describe('an error in a handler', () => {
  const startServer = useShellServers()
  const answerToError = async (error: unknown) => {
    const { ask, log } = await startServer(
      routerWith('/', ctx => {
        ctx.type = 'html'
        throw error
      }),
    )
    return { ...(await ask('/', { headers: { 'X-Request-Id': 'r1' } })), log }
  }

  it('becomes problem+json with its members and headers if it is a declared error', async () => {
    const { status, headers, body } = await answerToError(
      problem('RateLimitExceededError', {
        detail: 'Too many sends to this recipient.',
        members: { scope: 'recipient', retry_after: 7 },
        headers: { 'Retry-After': '7' },
      }),
    )
    expect(status).to.equal(429)
    expect(headers.get('content-type')).to.equal('application/problem+json')
    expect(headers.get('retry-after')).to.equal('7')
    expect(body).to.deep.equal({
      type: 'RateLimitExceededError',
      title: 'Too many requests',
      status: 429,
      detail: 'Too many sends to this recipient.',
      request_id: 'r1',
      doc_url: '/docs/errors#error-RateLimitExceededError',
      scope: 'recipient',
      retry_after: 7,
    })
  })

  it('has its title as detail if it has no detail of its own', async () => {
    const { body } = await answerToError(problem('OtpNotFoundError'))
    expect(body).to.include({ type: 'OtpNotFoundError', status: 404, detail: 'No such verification.' })
    const bare = await answerToError(httpException(401))
    expect(bare.body).to.include({ type: 'HTTPException', title: 'Unauthorized', detail: 'Unauthorized.' })
  })

  for (const error of [new Unavailable('store gone'), new CallTimeout('late'), new Unroutable('no queue')])
    it(`is 503 with Retry-After if it is ${error.name}`, async () => {
      const { status, headers, body, log } = await answerToError(error)
      expect(status).to.equal(503)
      expect(headers.get('retry-after')).to.equal('1')
      expect(body).to.include({ type: 'ServiceUnavailableError', status: 503 })
      expect(JSON.stringify(body)).not.to.contain(error.message)
      expect(log.output()).to.contain(error.message)
    })

  it('is 503 that names the idempotency key only where the request may have changed something', async () => {
    const router = new Router()
    router.all('/', () => {
      throw new Unavailable('store gone')
    })
    const { ask } = await startServer(router)
    const details: unknown[] = []
    for (const method of ['GET', 'POST']) details.push((await ask('/', { method })).body.detail)
    expect(details[0]).to.contain('ask again').and.not.to.contain('idempotency')
    expect(details[1]).to.contain('idempotency key')
  })

  it('is 503 with the Retry-After of the handler that threw it, or one second', async () => {
    const waits: unknown[] = []
    for (const headers of [{}, { 'Retry-After': '7' }]) {
      const answer = await answerToError(problem('ServiceUnavailableError', { detail: 'Try again.', headers }))
      waits.push([answer.status, answer.headers.get('retry-after')])
    }
    expect(waits).to.deep.equal([
      [503, '1'],
      [503, '7'],
    ])
  })

  it('keeps the status of an error of Koa, but not its message', async () => {
    for (const status of [400, 413, 415]) {
      const { status: answered, headers, body } = await answerToError(libraryError(status, 'words of a library'))
      expect(answered).to.equal(status)
      expect(headers.get('content-type')).to.equal('application/problem+json')
      expect(body).to.include({ type: 'HTTPException', status })
      expect(JSON.stringify(body)).not.to.contain('words of a library')
    }
  })

  it('is a 500 that shows no message if it is something else', async () => {
    for (const [what, error] of Object.entries({
      'an error': new Error('the inside'),
      'an error that the OTP actor threw': new CallFailed('the inside'),
      'an error with a server status': libraryError(502, 'the inside'),
      'an error with a strange status': Object.assign(new Error('the inside'), { status: 200 }),
      'a text': 'the inside',
      nothing: undefined,
      'an object with a status': { status: 404, message: 'the inside' },
    })) {
      const { status, headers, body } = await answerToError(error)
      expect(status, what).to.equal(500)
      expect(headers.get('content-type')).to.equal('application/problem+json')
      expect(body, what).to.deep.equal({
        type: 'HTTPException',
        title: 'Internal Server Error',
        status: 500,
        detail: 'Internal Server Error.',
        request_id: 'r1',
        doc_url: '/docs/errors#error-HTTPException',
      })
    }
  })

  it('is logged with its stack only if the fault is ours', async () => {
    const ours = await answerToError(new Error('the inside'))
    const line = ours.log.lines().find(({ msg }) => msg === 'http.failed')
    expect(line).to.include({ level: 'error', request_id: 'r1' })
    expect(JSON.stringify(line)).to.contain('the inside').and.to.contain('problem.test.ts')
    const theirs = await answerToError(problem('OtpNotFoundError'))
    expect(theirs.log.lines().map(({ msg }) => msg)).to.deep.equal(['http.answered'])
  })
})
