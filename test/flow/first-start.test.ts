// A developer's first minute: the commands that the first start prints work as they are.
import { expect } from 'chai'
import { describeCountersign } from '../support/countersign.ts'
import { eventually } from '../support/eventually.ts'

interface Command {
  url: string
  headers: Record<string, string>
  body: string | undefined
}

/** Every curl command of the printed guide, parsed as curl would read it. */
const commandsIn = (guide: string): Command[] =>
  guide
    .replaceAll('\\\n', '')
    .split('\n')
    .filter(line => line.trim().startsWith('curl '))
    .map(line => ({
      url: /https?:\/\/[^\s']+/.exec(line)?.[0] ?? '',
      headers: Object.fromEntries([...line.matchAll(/-H '([^:]+): ([^']*)'/g)].map(([, name, value]) => [name, value])),
      body: / -d '([^']*)'/.exec(line)?.[1],
    }))

async function run<T>({ url, headers, body }: Command): Promise<T> {
  const response = await fetch(url, { headers, ...(body === undefined ? {} : { method: 'POST', body }) })
  const answer = await response.text()
  expect(response.status, answer).to.equal(200)
  return JSON.parse(answer) as T
}

describeCountersign('the first start', (start, engines) => {
  it('prints curl commands that send a code, read it and verify it', async () => {
    const [send, read, check] = commandsIn((await start()).printed()) as [Command, Command, Command]
    const { otp_id } = await run<{ otp_id: string }>(send)
    const code = await eventually(async () => {
      const [message] = await run<{ otp_id: string; code: string }[]>(read)
      expect(message?.otp_id).to.equal(otp_id)
      return message?.code
    })
    const filledIn = check.body?.replace('…', otp_id).replace('…', `${code}`)
    const { matched } = await run<{ matched: boolean }>({ ...check, body: filledIn })
    expect(matched).to.equal(true)
  })

  it('prints the API keys once, and keeps them out of the log', async () => {
    const first = await start()
    const keys = first.printed().match(/[sp]k_test_\w{40,}/g) ?? []
    expect(new Set(keys)).to.have.length(2)
    for (const key of keys) expect(first.log.output()).not.to.contain(key)
    expect((await first.restart()).printed()).to.equal('')
  })

  if (engines === 'real')
    it('of an edge process alone refers to the dashboard process for the sandbox', async () => {
      const { printed, url } = await start({ roles: ['edge'] })
      expect(printed()).to.contain(`${url}/api/v1/otp/send`).and.to.contain('at the process that plays the dashboard')
      expect(printed()).not.to.contain(`${url}/admin`)
    })
})
