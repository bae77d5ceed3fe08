import { expect } from 'chai'
import { answerWith, routerWith, useShellServers } from '../../support/http-shell.ts'

describe('a request id', () => {
  const startServer = useShellServers()
  const router = () => routerWith('/here', ctx => answerWith({ id: ctx.state.requestId })(ctx))
  const idOf = async (given?: string, path = '/here') => {
    const { ask } = await startServer(router())
    const { headers } = await ask(path, given === undefined ? {} : { headers: { 'X-Request-Id': given } })
    return headers.get('x-request-id')
  }

  for (const given of ['abc-123', 'A.b_c-9', 'x', 'r'.repeat(128)])
    it(`is the caller's own if it is well-formed: ${given.slice(0, 10)}`, async () => {
      expect(await idOf(given)).to.equal(given)
    })

  for (const [what, given] of [
    ['too long', 'r'.repeat(129)],
    ['with a space', 'a b'],
    ['with markup', '<script>'],
    ['of two headers', 'a, b'],
    ['empty', ''],
  ] as const)
    it(`is a new one if the caller's is ${what}`, async () => {
      expect(await idOf(given)).to.match(/^[0-9a-f-]{36}$/)
    })

  it('is a new one for each request without an id', async () => {
    const [one, other] = [await idOf(), await idOf()]
    expect(one).to.match(/^[0-9a-f-]{36}$/)
    expect(other).not.to.equal(one)
  })

  it('stands in refusals too, in the problem and in the log', async () => {
    const { ask, log } = await startServer(router())
    const { headers, body } = await ask('/nowhere', { headers: { 'X-Request-Id': 'mine' } })
    expect(headers.get('x-request-id')).to.equal('mine')
    expect(body.request_id).to.equal('mine')
    expect(log.lines().at(-1)).to.include({ request_id: 'mine', status: 404, msg: 'http.answered' })
  })

  it('is known to the handler', async () => {
    const { ask } = await startServer(router())
    expect((await ask('/here', { headers: { 'X-Request-Id': 'mine' } })).body).to.deep.equal({ id: 'mine' })
  })
})
