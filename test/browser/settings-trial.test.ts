// Unsaved changes are tried on past traffic, in a real browser, on each screen that has the button.
import { expect } from 'chai'
import type { Locator, Page } from 'playwright-core'
import { addressIn } from '../../services/dashboard/screens.ts'
import { NOT_JUDGED, type NotJudgedReason } from '../../services/dashboard/settings-trial/schemas.ts'
import { createCaller } from '../support/api-caller.ts'
import { describeInBrowser, expectAccessibleInEveryLook } from '../support/browser.ts'
import { createSampleCompany, SAMPLE_BOOTSTRAP, SAMPLE_ENV } from '../support/sample-company.ts'

const tryButton = (page: Page): Locator => page.getByRole('button', { name: 'Try on past traffic' })
const dialogOf = (page: Page): Locator => page.getByRole('dialog', { name: 'Try on past traffic' })
const row = (dialog: Locator, table: string): Locator =>
  dialog.getByRole('table', { name: table }).getByRole('row').nth(1)

/** Most of the sample's past are statistics alone, so not everything can be judged. */
const NOTHING_DIFFERS = 'No send of this time would have been decided otherwise, as far as it can be judged.'

/** The sample has two live sends of the last hours, both by SMS to the United States. */
const CHANGES: readonly {
  screen: string
  change(page: Page): Promise<void>
  refused: string[] | null
  notJudged?: NotJudgedReason
}[] = [
  {
    screen: '/limits',
    async change(page) {
      await page.getByLabel('Block a country').fill('United States')
      await page.keyboard.press('Enter')
    },
    refused: ['Country blocked', 'United States', '2'],
  },
  {
    screen: '/routing',
    change: page => page.getByLabel('The best first').check(),
    refused: null,
    notJudged: 'provider_order',
  },
  {
    screen: '/routing',
    // The change before this one is kept as a draft.
    change: page => page.getByRole('switch', { name: 'SMS' }).click(),
    refused: ['No channel', 'United States', '2'],
  },
  {
    screen: '/settings',
    change: page => page.getByRole('switch', { name: 'Publishable keys may send in live mode' }).click(),
    refused: null,
  },
]

describeInBrowser('unsaved changes tried on past traffic', (open, start) => {
  it('show what they would have done, and open the verifications', async () => {
    const countersign = await start({ env: SAMPLE_ENV, bootstrap: SAMPLE_BOOTSTRAP })
    const sample = await createSampleCompany(countersign)
    try {
      const { page, admin } = await open.operator(countersign)
      const before = (await admin('GET', `/apps/${sample.app}`)).body.settings
      for (const { screen, change, refused, notJudged } of CHANGES) {
        await page.goto(addressIn({ app_id: sample.app, company_id: sample.company }, screen))
        await change(page)
        await tryButton(page).click()
        const dialog = dialogOf(page)
        if (refused === null) await dialog.getByText(NOTHING_DIFFERS, { exact: true }).waitFor()
        else {
          await row(dialog, 'Would be refused').waitFor()
          const cells = await row(dialog, 'Would be refused').getByRole('cell').allInnerTexts()
          expect(cells).to.deep.equal(refused)
        }
        if (notJudged) await dialog.getByText(NOT_JUDGED[notJudged]).waitFor()
        await expectAccessibleInEveryLook(page)
        if (refused !== null) {
          const opened = page.waitForEvent('popup')
          await dialog
            .getByRole('link', { name: /^Show the verification of/ })
            .first()
            .click()
          const popup = await opened
          await popup.getByRole('heading', { level: 1, name: 'Verification' }).waitFor()
          await popup.close()
        }
        await page.keyboard.press('Escape')
        await dialog.waitFor({ state: 'detached' })
        expect(await tryButton(page).evaluate(button => button === button.ownerDocument.activeElement)).to.equal(true)
        await page.getByRole('region', { name: 'Unsaved changes' }).waitFor()
      }
      expect((await admin('GET', `/apps/${sample.app}`)).body.settings).to.deep.equal(before)
    } finally {
      await sample.close()
    }
  })

  it('open the refusal of a send that they would let through, and none beside it', async () => {
    const key = 'sk_live_0123456789abcdef'
    const shop = {
      id: 'app_shop',
      name: 'Shop',
      settings: { routing: { default: ['sms'] }, blocked_countries: ['US'] },
      keys: [{ id: 'key_live', key }],
      providers: [{ name: 'box', channel: 'sms', type: 'sandbox', config: {} }],
    }
    // A server of its own, because the clock of the shared one may be ahead of the page's, which says until when is tried.
    const countersign = await start({
      bootstrap: { companies: [{ id: 'cmp_acme', name: 'Acme', apps: [shop] }] },
    })
    const { send } = createCaller(countersign.url, key)
    for (const recipient of ['no number', '+14155552671', 'no address'])
      expect((await send(recipient)).status, recipient).to.not.equal(200)
    const { page } = await open.operator(countersign)
    await page.goto('/limits')
    const blocked = page.getByRole('list', { name: 'Blocked countries' })
    await blocked.getByRole('button', { name: 'Remove United States' }).click()
    await tryButton(page).click()
    const dialog = dialogOf(page)
    await row(dialog, 'Would be let through').waitFor()
    const opened = page.waitForEvent('popup')
    await dialog.getByRole('link', { name: /^Show the refusal of \+1.*71 in a new tab$/ }).click()
    const popup = await opened
    const rows = popup.getByRole('table', { name: 'Refusals' }).locator('tbody tr')
    await rows.getByText('GeoBlockedError').waitFor()
    expect(await rows.count()).to.equal(1)
  })
})
