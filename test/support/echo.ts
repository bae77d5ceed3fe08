// Two services that show that the engines connect them: the edge sends a call, and the OTP role answers with what it got.
import { Router } from '@koa/router'
import { createReadJson } from '../../infra/http/body.ts'
import type { Services } from '../../services/main.ts'

export const ECHO: Services = {
  edge: ({ broker, store }) => {
    const readJson = createReadJson(1000)
    const router = new Router()
    router.get('/echo/:word', async ctx => {
      ctx.body = await broker.request('otp.calls', { id: ctx.state.requestId, body: { word: ctx.params.word } }, 10_000)
    })
    router.post('/echo', async ctx => {
      ctx.body = await broker.request('otp.calls', { id: ctx.state.requestId, body: await readJson(ctx) }, 10_000)
    })
    router.get('/companies/:id', async ctx => {
      ctx.body = Object.fromEntries(await store.docs('companies').get([String(ctx.params.id)]))
    })
    return { router }
  },
  otp: ({ broker }) => ({
    attach: async () => [
      await broker.serve('otp.calls', async calls => calls.map(({ body }) => ({ echoed: body })), { prefetch: 10 }),
    ],
  }),
}

/** For a process that imports its services by file name. */
export default ECHO
