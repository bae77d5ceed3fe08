// The first five minutes, in a real browser: `npm start` in an empty folder, what it prints, and the first verified
// code, with no key copied by hand.
import { expect } from 'chai'
import { describeInBrowser } from '../support/browser.ts'
import type { Countersign } from '../support/countersign.ts'
import { useProcesses } from '../support/processes.ts'

describeInBrowser('the first start', open => {
  const { site, main } = useProcesses()

  it('leads to the first verified code without a key copied by hand', async function () {
    const started = Date.now()
    const running = main(await site('embedded', { ADMIN_TOKEN: '', LOG_LEVEL: 'info' }))
    const url = await running.url()
    await running.waitForLine(line => line.includes('/api/v1/otp/verify'))
    const { page } = await open.stranger({ url, secrets: { adminTokens: [] } } as unknown as Countersign)
    const link = /\S+\/sign-in\?ticket=\S+/.exec(running.lines.join('\n'))?.[0]
    expect(link, 'a printed link').to.be.a('string')
    await page.goto(link ?? '')
    await page.waitForURL('**/try')
    await page.getByRole('button', { name: 'Send code' }).click()
    await page.getByRole('button', { name: 'Use this code' }).click()
    await page.getByRole('button', { name: 'Verify', exact: true }).click()
    await page.getByText('approved', { exact: true }).waitFor()
    const seconds = (Date.now() - started) / 1000
    // Reported, not asserted: a busy machine is no defect.
    if (this.test) this.test.title += ` (${seconds.toFixed(1)} s from the start of the process)`
    expect(running.stderr()).to.equal('')
  })
})
