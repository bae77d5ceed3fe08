// The bare pipeline's edge. In: a JSON body, over Koa. Out: the answer to one request on the broker.
import { randomUUID } from 'node:crypto'
import process from 'node:process'
import { Router } from '@koa/router'
import Koa from 'koa'
import { createAmqpBroker } from '../../infra/broker/amqp.ts'
import { createReadJson } from '../../infra/http/body.ts'
import { listen } from '../../infra/http/listen.ts'
import { waitUntilUp } from '../support/rabbitmq.ts'
import { BARE_BUDGET_MS, BARE_TOPOLOGY } from './bare.ts'

const { AMQP_URL: url = '', AMQP_PREFIX: prefix = '' } = process.env
const broker = createAmqpBroker({ urls: [url], prefix, topology: BARE_TOPOLOGY })
await waitUntilUp(broker)

const readJson = createReadJson(16_384)
const router = new Router()
router.post('/api/v1/otp/send', async ctx => {
  const body = await readJson(ctx)
  ctx.body = await broker.request('otp.calls', { id: randomUUID(), body }, BARE_BUDGET_MS)
})
const app = new Koa()
app.use(router.routes())
const { port } = await listen(app, { host: '127.0.0.1', port: 0 })
console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }))
