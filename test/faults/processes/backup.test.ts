// Backup and restore, for real: a deployment is copied while it works and is killed, and another one goes on with the
// copy. What waited in the broker is lost. On the embedded engines the process makes the copy; on MongoDB the documents
// are read one collection after the other, as a dump does, so that the copy holds states of different moments.
import { expect } from 'chai'
import { MongoClient } from 'mongodb'
import { type Caller, createCaller } from '../../support/api-caller.ts'
import { secrets } from '../../support/config.ts'
import { eventually } from '../../support/eventually.ts'
import { freshNumber } from '../../support/flow.ts'
import { type CountersignProcess, useProcesses } from '../../support/processes.ts'
import { type EngineSet, onEachEngineSet, type Site } from '../../support/site.ts'

const KEY = 'sk_test_backup0123456789abcdef'
const BOOTSTRAP = {
  companies: [
    { id: 'cmp_shop', name: 'Shop', apps: [{ id: 'app_shop', name: 'Shop', keys: [{ id: 'key_a', key: KEY }] }] },
  ],
}

onEachEngineSet('a deployment that is restored from a backup', engines => {
  const { site, main, crashing } = useProcesses()
  /** On RabbitMQ with queues of its own. */
  const start = engines === 'embedded' ? main : crashing

  async function newSite(env: Record<string, string> = {}): Promise<Site> {
    const made = await site(engines, { ...secrets, ...env })
    made.env.BOOTSTRAP_FILE = await made.write('bootstrap.json', BOOTSTRAP)
    return made
  }
  async function codeOf(url: string, recipient: string): Promise<string> {
    const headers = { Authorization: `Bearer ${secrets.ADMIN_TOKEN}` }
    const query = new URLSearchParams({ recipient })
    return eventually(async () => {
      const answer = await fetch(`${url}/admin/v1/sandbox/messages?${query}`, { headers })
      const messages = (await answer.json()) as { code: string }[]
      expect(messages).to.have.length(1)
      return messages[0]?.code ?? ''
    })
  }

  it('knows every verification from before, checks its code, and sends what the broker had not', async () => {
    const old = await newSite()
    const first = start(old)
    const url = await first.ready()
    const caller = createCaller(url, KEY)
    const [pending, approved] = [freshNumber(), freshNumber()]
    const [pendingId, approvedId] = [await sendTo(caller, pending), await sendTo(caller, approved)]
    await caller.verify(approvedId, await codeOf(url, approved))
    const code = await codeOf(url, pending)

    let isOver = false
    const accepted: string[] = []
    const sending = (async () => {
      while (!isOver) accepted.push(await sendTo(caller, freshNumber()))
    })()
    await eventually(() => expect(accepted.length).to.be.greaterThan(10))
    const before = accepted.length
    const restored = await BACK_UP[engines](first, old, newSite)
    isOver = true
    await sending
    first.process.kill('SIGKILL')
    await first.exited

    const again = createCaller(await start(restored).ready(), KEY)
    expect((await again.verify(pendingId, code)).body).to.include({ matched: true, status: 'approved' })
    expect((await again.status(approvedId)).body).to.include({ status: 'approved' })
    for (const otp_id of accepted.slice(0, before))
      await eventually(async () => {
        const { body } = await again.status(otp_id)
        // Only "sent" where the copy was made between the sending and its receipt, which was lost with the broker.
        expect(body.deliveries[0].status).to.be.oneOf(['sent', 'delivered'])
      })
    expect(await sendTo(again, freshNumber())).to.match(/^otp_/)
  })

  it('erases people again who were erased since the backup, by the journal of erasures', async () => {
    const old = await newSite()
    const first = start(old)
    const url = await first.ready()
    const caller = createCaller(url, KEY)
    const [person, other] = [freshNumber(), freshNumber()]
    const otp_id = await sendTo(caller, person)
    const otherId = await sendTo(caller, other)
    await codeOf(url, person)
    const restored = await BACK_UP[engines](first, old, newSite)
    const erased = await admin(url, 'POST', '/apps/app_shop/erase', JSON.stringify({ recipient: person }))
    expect(JSON.parse(erased)).to.include({ verifications: 1 })
    const journal = await admin(url, 'GET', '/erasures')
    first.process.kill('SIGKILL')
    await first.exited

    const restoredUrl = await start(restored).ready()
    const again = createCaller(restoredUrl, KEY)
    expect((await again.status(otp_id)).status, 'brought back').to.equal(200)
    const replayed = await admin(restoredUrl, 'POST', '/erasures/replay', journal, 'application/x-ndjson')
    expect(JSON.parse(replayed)).to.include({ entries: 2, replayed: 2, next_line: null })
    expect(JSON.parse(replayed).erased).to.include({ verifications: 1 })
    expect((await again.status(otp_id)).status).to.equal(404)
    expect((await again.status(otherId)).status).to.equal(200)
    expect(await admin(restoredUrl, 'GET', '/erasures')).to.equal(journal)
  })
})

async function admin(url: string, method: string, path: string, body?: string, type = 'application/json') {
  const headers = {
    Authorization: `Bearer ${secrets.ADMIN_TOKEN}`,
    ...(body !== undefined && { 'Content-Type': type }),
  }
  const answer = await fetch(`${url}/admin/v1${path}`, { method, headers, ...(body !== undefined && { body }) })
  const text = await answer.text()
  expect(answer.status, text).to.equal(200)
  return text
}

async function sendTo(caller: Caller, recipient: string): Promise<string> {
  const { status, body, text } = await caller.send(recipient)
  expect(status, text).to.equal(200)
  return body.otp_id
}

type NewSite = (env?: Record<string, string>) => Promise<Site>

/** Makes a backup while the process works. Out: a site with the restored data. */
const BACK_UP: Record<EngineSet, (running: CountersignProcess, old: Site, newSite: NewSite) => Promise<Site>> = {
  async embedded(running, _, newSite) {
    running.process.kill('SIGUSR2')
    const line = await running.waitForLine(text => text.includes('"msg":"backup.'))
    const { msg, folder } = JSON.parse(line)
    expect(msg, line).to.equal('backup.made')
    return newSite({ DATA_DIR: folder })
  },
  async real(_, old, newSite) {
    const restored = await newSite()
    const client = new MongoClient(old.env.MONGODB_URL ?? '')
    try {
      const [from, to] = [client.db(), client.db(new URL(restored.env.MONGODB_URL ?? '').pathname.slice(1))]
      for (const { name } of await from.listCollections({}, { nameOnly: true }).toArray()) {
        const documents = await from.collection(name).find().toArray()
        if (documents.length > 0) await to.collection(name).insertMany(documents)
      }
    } finally {
      await client.close()
    }
    return restored
  },
}
