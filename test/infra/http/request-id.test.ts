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

  it("is the caller's own if it is well-formed, and a new one otherwise", async () => {
    for (const given of ['abc-123', 'A.b_c-9', 'x', 'r'.repeat(128)]) expect(await idOf(given), given).to.equal(given)
    for (const given of ['r'.repeat(129), 'a b', '<script>', 'a, b', '', undefined])
      expect(await idOf(given), given).to.match(/^[0-9a-f-]{36}$/)
    expect(await idOf()).not.to.equal(await idOf())
  })

  it('stands in refusals too, in the problem and in the log', async () => {
    const { ask, log } = await startServer(router())
    const { headers, body } = await ask('/nowhere', { headers: { 'X-Request-Id': 'mine' } })
    expect(headers.get('x-request-id')).to.equal('mine')
    expect(body.request_id).to.equal('mine')
    expect((await ask('/here', { headers: { 'X-Request-Id': 'mine' } })).body, 'in a handler').to.deep.equal({
      id: 'mine',
    })
    expect(log.lines()[0]).to.include({ request_id: 'mine', status: 404, msg: 'http.answered' })
  })
})
