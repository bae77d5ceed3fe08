import { expect } from 'chai'
import Koa from 'koa'
import { CallFailed, CallTimeout, Unroutable } from '../../../infra/broker/broker.ts'
import { httpException } from '../../../infra/http/problem.ts'
import { Unavailable } from '../../../infra/unavailable.ts'
import { problem } from '../../../services/domain/errors.ts'
import { routerWith, shellServers } from '../../support/http-shell.ts'

/** As koa, its parsers and `ctx.throw` make theirs. */
const libraryError = (status: number, message: string): Error => {
  try {
    return new Koa().context.throw(status, message)
  } catch (error) {
    return error as Error
  }
}

describe('what is thrown in a route', () => {
  const door = shellServers()
  const thrown = async (error: unknown) => {
    const { ask, log } = await door(
      routerWith('/', ctx => {
        ctx.type = 'html'
        throw error
      }),
    )
    return { ...(await ask('/', { headers: { 'X-Request-Id': 'r1' } })), log }
  }

  it('becomes problem+json with its members and headers when it is a declared error', async () => {
    const { status, headers, body } = await thrown(
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
      scope: 'recipient',
      retry_after: 7,
    })
  })

  it('has its title for a detail where there is no other', async () => {
    expect((await thrown(problem('OtpNotFoundError'))).body).to.include({
      type: 'OtpNotFoundError',
      status: 404,
      detail: 'No such verification.',
    })
    expect((await thrown(httpException(401))).body).to.include({
      type: 'HTTPException',
      title: 'Unauthorized',
      detail: 'Unauthorized.',
    })
  })

  for (const error of [new Unavailable('store gone'), new CallTimeout('late'), new Unroutable('no queue')])
    it(`is 503 with Retry-After when it is ${error.name}`, async () => {
      const { status, headers, body, log } = await thrown(error)
      expect(status).to.equal(503)
      expect(headers.get('retry-after')).to.equal('1')
      expect(body).to.include({ type: 'ServiceUnavailableError', status: 503 })
      expect(JSON.stringify(body)).not.to.contain(error.message)
      expect(log.output()).to.contain(error.message)
    })

  for (const status of [400, 413, 415])
    it(`keeps the status ${status} that koa and its parsers throw, not their words`, async () => {
      const { status: answered, headers, body } = await thrown(libraryError(status, 'words of a library'))
      expect(answered).to.equal(status)
      expect(headers.get('content-type')).to.equal('application/problem+json')
      expect(body).to.include({ type: 'HTTPException', status })
      expect(JSON.stringify(body)).not.to.contain('words of a library')
    })

  for (const [what, error] of [
    ['an error', new Error('the inside')],
    ['an error that a server threw', new CallFailed('the inside')],
    ['an error with a server status', libraryError(502, 'the inside')],
    ['an error with a strange status', Object.assign(new Error('the inside'), { status: 200 })],
    ['a text', 'the inside'],
    ['nothing', undefined],
    ['an object with a status', { status: 404, message: 'the inside' }],
  ] as const)
    it(`is a 500 that shows nothing when it is ${what}`, async () => {
      const { status, headers, body } = await thrown(error)
      expect(status).to.equal(500)
      expect(headers.get('content-type')).to.equal('application/problem+json')
      expect(body).to.deep.equal({
        type: 'HTTPException',
        title: 'Internal Server Error',
        status: 500,
        detail: 'Internal Server Error.',
        request_id: 'r1',
      })
    })

  it('is logged, stack and all, only when the fault is ours', async () => {
    const ours = await thrown(new Error('the inside'))
    const line = ours.log.lines().find(({ msg }) => msg === 'http.failed')
    expect(line).to.include({ level: 'error', request_id: 'r1' })
    expect(JSON.stringify(line)).to.contain('the inside').and.to.contain('problem.test.ts')
    const theirs = await thrown(problem('OtpNotFoundError'))
    expect(theirs.log.lines().map(({ msg }) => msg)).to.deep.equal(['http.answered'])
  })
})
