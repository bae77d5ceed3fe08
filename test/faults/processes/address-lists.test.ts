// kill -9 during an import of an address list: either the former or the new version applies as a whole, and the next import works.
import { expect } from 'chai'
import { manyRanges } from '../../support/address-lists.ts'
import { ask, createCaller } from '../../support/api-caller.ts'
import { eventually } from '../../support/eventually.ts'
import { stepsOn } from '../../support/fault-rounds.ts'
import { freshNumber } from '../../support/flow.ts'
import { useProcesses } from '../../support/processes.ts'
import { onEachEngineSet } from '../../support/site.ts'

const KEY = 'sk_test_lists0123456789'
const TOKEN = 'a-token-of-an-operator'
const BOOTSTRAP = { companies: [{ id: 'cmp_l', apps: [{ id: 'app_l', keys: [{ id: 'key_l', key: KEY }] }] }] }
/** The import of the first list makes one insert and no removal. */
const STEPS = [
  ['ip_chunks.insert', 2, 'after'],
  ['ip_chunks.remove', 1, 'before'],
] as const

onEachEngineSet('an import of an address list and kill -9', engines => {
  const { site, crashing } = useProcesses()

  for (const [method, nth, when] of stepsOn(engines, STEPS))
    it(`leaves a whole list when the process dies ${when} a call of ${method}`, async () => {
      const here = await site(engines)
      const env = { BOOTSTRAP_FILE: await here.write('bootstrap.json', BOOTSTRAP), ADMIN_TOKEN: TOKEN }
      const put = (url: string, text: string) => {
        const body = JSON.stringify({ lists: [{ class: 'abusive', name: 'mine', text }] })
        return ask(`${url}/admin/v1/ip-lists`, { method: 'PUT', token: TOKEN, body })
      }
      const send = async (url: string, client_ip: string) =>
        (await createCaller(url, KEY).send(freshNumber(), { client_ip })).status
      const ready = (url: string) =>
        eventually(async () => {
          const { body } = await ask(`${url}/admin/v1/ip-lists`, { token: TOKEN })
          expect(body.items[0].status).to.equal('ready')
        })

      const dying = crashing(here, { env, point: { port: 'store', method, nth, when } })
      const url = await dying.ready()
      await put(url, '91.240.118.0/24')
      await ready(url)
      await put(url, manyRanges(100_000).join('\n')).catch(() => null)
      await dying.exited

      const last = crashing(here, { env })
      const there = await last.ready()
      const statuses = [await send(there, '91.240.118.5'), await send(there, '11.0.0.0'), await send(there, '11.3.0.0')]
      // The chunks of the former version are removed only after the list names the new version.
      expect(statuses).to.deep.equal(method === 'ip_chunks.remove' ? [200, 403, 403] : [403, 200, 200])
      await put(there, '9.9.9.9')
      await ready(there)
      await eventually(async () => expect(await send(there, '9.9.9.9')).to.equal(403))
      expect(await send(there, '91.240.118.5')).to.equal(200)
    })
})
