// The first five minutes, in a real browser: `npm start` in an empty folder, what it prints, and the first verified code, with no key copied
// by hand.
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { describeInBrowserOnce } from '../support/browser.ts'
import type { Countersign } from '../support/countersign.ts'
import { useProcesses } from '../support/processes.ts'

/** With the link that the first start prints; of a start that prints none, with the operator's token in its commands. */
async function signIn(page: Page, printed: string): Promise<void> {
  const link = /\S+\/sign-in\?ticket=\S+/.exec(printed)?.[0]
  if (link !== undefined) {
    await page.goto(link)
    return
  }
  await page.goto('/sign-in')
  await page.getByLabel('Operator token').fill(/\/admin\/v1\/.*Bearer (\S+)'/.exec(printed)?.[1] ?? '')
  await page.getByRole('button', { name: 'Sign in' }).click()
}

describeInBrowserOnce('the first start', open => {
  const { site, main } = useProcesses()

  it('leads to the first verified code without a key copied by hand', async function () {
    const started = Date.now()
    const running = main(await site('embedded', { ADMIN_TOKEN: '', LOG_LEVEL: 'info' }))
    const url = await running.url()
    await running.waitForLine(line => line.includes('/api/v1/otp/verify'))
    const { page } = await open.stranger({ url, secrets: { adminTokens: [] } } as unknown as Countersign)
    await signIn(page, running.lines.join('\n'))
    await page.getByRole('link', { name: 'Try it', exact: true }).click()
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
