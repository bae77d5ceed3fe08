// Every screen with data on it: axe finds no serious violation, light and dark, and neither a desktop nor a phone scrolls sideways. With
// SCREENSHOTS=<folder> the pictures are written there, of both sizes in both themes: `npm run screenshots` makes those in docs/screens.
import { Buffer } from 'node:buffer'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { addressIn, readPlace, SCREENS } from '../../services/dashboard/screens.ts'
import { describeInBrowser, EVERY_LOOK, expectAccessible, LOOKS, SIZES } from '../support/browser.ts'
import { createSampleCompany, SAMPLE_BOOTSTRAP, SAMPLE_ENV } from '../support/sample-company.ts'

const FOLDER = process.env.SCREENSHOTS
const SHOWN = FOLDER ? EVERY_LOOK : LOOKS
/** Of what a reader needs to see, and small. */
const WEBP_QUALITY = 60
const MAX_HEIGHT = 2_400

/** Follows a link in the page, which is cheaper than loading it anew: the shell's test opens each screen by its address. */
const OPEN = (path: string): void => {
  // biome-ignore lint/suspicious/noExplicitAny: the page's own document
  const { document } = globalThis as any
  const link = Object.assign(document.createElement('a'), { href: path })
  document.body.append(link)
  link.click()
  link.remove()
}

/** Such a link leads to the app used last, which in another tab may be another one. */
function namesNoApp(href: string | null): boolean {
  const place = readPlace((href ?? '').replace(/[?#].*$/, ''))
  return place !== null && place.screen.of !== 'deployment' && place.app_id === null && place.company_id === null
}

async function photograph(page: Page, name: string): Promise<void> {
  if (!FOLDER) return
  mkdirSync(FOLDER, { recursive: true })
  const width = await page.evaluate<number>('document.documentElement.clientWidth')
  const height = await page.evaluate<number>('document.documentElement.scrollHeight')
  const client = await page.context().newCDPSession(page)
  const { data } = await client.send('Page.captureScreenshot', {
    format: 'webp',
    quality: WEBP_QUALITY,
    captureBeyondViewport: true,
    clip: { x: 0, y: 0, width, height: Math.min(height, MAX_HEIGHT), scale: 1 },
  })
  writeFileSync(join(FOLDER, `${name}.webp`), Buffer.from(data, 'base64'))
}

describeInBrowser('every screen, with data', (open, start) => {
  for (const { size, theme } of SHOWN)
    it(`is accessible and fits: ${size}, ${theme}`, async () => {
      const countersign = await start({ env: SAMPLE_ENV, bootstrap: SAMPLE_BOOTSTRAP })
      const sample = await createSampleCompany(countersign)
      try {
        const { page } = await open.operator(countersign, { theme, size })
        const inSample = (path: string): string => addressIn({ app_id: sample.app, company_id: sample.company }, path)
        const pages = [
          ...SCREENS.map(({ path, name }) => ({ path, name, file: path.slice(1) })),
          { path: `/verifications/${sample.failedOtp}`, name: 'Verification', file: 'verification' },
        ]
        await page.goto(inSample('/overview'))
        for (const { path, name, file } of pages) {
          await page.evaluate(OPEN, inSample(path))
          await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
          // Charts and lists are read after the screen is shown.
          await page.locator('.loading').first().waitFor({ state: 'detached' })
          await expectAccessible(page)
          const width = await page.evaluate<number>('document.documentElement.scrollWidth')
          expect(width, `${path} is too wide`).to.be.at.most(SIZES[size].width)
          const links = await page
            .locator('a[href^="/"]')
            .evaluateAll(all => all.map(link => link.getAttribute('href')))
          expect(links.filter(namesNoApp), `links of ${path}`).to.deep.equal([])
          await photograph(page, `${file}-${size}-${theme}`)
        }
      } finally {
        await sample.close()
      }
    })
})

describeInBrowser('the sign-in page', (open, start) => {
  for (const { size, theme } of SHOWN)
    it(`is accessible and fits: ${size}, ${theme}`, async () => {
      const { page } = await open.stranger(await start(), { theme, size })
      await page.goto('/sign-in')
      await page.getByLabel('Operator token').waitFor()
      await expectAccessible(page)
      await photograph(page, `sign-in-${size}-${theme}`)
    })
})
