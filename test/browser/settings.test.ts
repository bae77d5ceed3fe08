// The settings screen, in a real browser.
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { describeInBrowserOnce, expectAccessible, LOOKS, SIZES } from '../support/browser.ts'
import { eventually } from '../support/eventually.ts'

const [COMPANY, APP] = ['cmp_demo', 'app_demo']

async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved. Every process uses it within 5 seconds.').last().waitFor()
  await page.getByRole('region', { name: 'Unsaved changes' }).waitFor({ state: 'detached' })
}

describeInBrowserOnce('the settings screen', (open, start) => {
  it('says a refusal beside its field, and loses nothing else', async () => {
    const { page, admin } = await open.operator(await start())
    await page.goto('/overview')
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.waitForURL(`**/a/${APP}/settings`)
    const digits = page.getByLabel('Digits of a code')
    const origins = page.getByLabel('Allowed origins')
    await digits.fill('12')
    await page.getByLabel('How long a code is valid').fill('5 minutes')
    await origins.fill('https://shop.example\nhttps://*.example')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Must be a whole number from 4 to 8.').waitFor()
    await page.getByText('Has no wildcards: list every origin by itself').waitFor()
    expect((await admin('GET', `/apps/${APP}`)).body.settings.code).to.deep.equal({ length: 6, ttl_seconds: 600 })
    expect(await digits.evaluate(field => field.matches(':focus')), 'the first refused field').to.equal(true)
    expect(await page.getByLabel('How long a code is valid').inputValue()).to.equal('5 minutes')

    await digits.fill('8')
    await page.getByText('Must be a whole number from 4 to 8.').waitFor({ state: 'detached' })
    await origins.fill('https://shop.example\n')
    await page.getByRole('switch', { name: 'Publishable keys may send in live mode' }).click()
    await save(page)
    const { settings } = (await admin('GET', `/apps/${APP}`)).body
    expect(settings.code).to.deep.equal({ length: 8, ttl_seconds: 300 })
    expect(settings.allowed_origins).to.deep.equal(['https://shop.example'])
    expect(settings.publishable_send).to.equal(true)
  })

  it('says what another screen must allow first', async () => {
    const { page } = await open.operator(await start())
    await page.goto('/settings')
    await page.getByLabel('Digits of a code').fill('4')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('“Wrong codes for one recipient”, under Limits and fraud allows 100 guesses').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    expect(await page.getByLabel('Digits of a code').inputValue()).to.equal('6')
    await page.getByText('Unsaved changes', { exact: true }).waitFor({ state: 'detached' })
  })

  it('keeps what another user has saved meanwhile', async () => {
    const { page, admin } = await open.operator(await start())
    await page.goto('/overview')
    await page.getByRole('link', { name: 'Overview' }).waitFor()
    await admin('PATCH', `/apps/${APP}`, { settings: { send_attempts: 7 } })
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    const attempts = page.getByLabel('Messages per verification')
    await eventually(async () => expect(await attempts.inputValue()).to.equal('7'))
    await page.getByLabel('Digits of a code').fill('7')
    await admin('PATCH', `/apps/${APP}`, { settings: { locale: 'de' } })
    await save(page)
    const { settings } = (await admin('GET', `/apps/${APP}`)).body
    expect([settings.code.length, settings.send_attempts, settings.locale]).to.deep.equal([7, 7, 'de'])
    expect(await page.getByLabel('Default language').inputValue()).to.equal('de')
  })

  it('edits texts by channel and language, with a preview that counts segments, and goes back to the built-in ones', async () => {
    const { page, admin } = await open.operator(await start())
    const stored = async () => (await admin('GET', `/apps/${APP}`)).body.settings.texts
    await page.goto('/settings')
    const preview = page.getByRole('region', { name: 'Preview' })
    await preview.getByText('123456 is your Demo verification code.').waitFor()
    await preview.getByText('GSM-7, 38 characters, 1 segment.').waitFor()
    await page.getByLabel('Language', { exact: true }).selectOption('German')
    const text = page.getByLabel('Text', { exact: true })
    expect(await text.inputValue()).to.equal('{code} ist Ihr {app}-Bestätigungscode.')
    await text.fill('Ihr Code')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Has no {code}').waitFor()
    await text.fill('Ваш код {code} — {app}')
    await preview.getByText('Ваш код 123456 — Demo').waitFor()
    await preview.getByText('UCS-2, 21 characters, 1 segment.').waitFor()
    await save(page)
    expect(await stored()).to.deep.equal({ sms: { de: { text: 'Ваш код {code} — {app}' } }, email: {}, whatsapp: {} })

    await page.getByLabel('Message', { exact: true }).selectOption('Email')
    await page.getByLabel('Subject').fill('Anmelden bei {app}')
    await preview.getByText('Anmelden bei Demo').waitFor()
    await save(page)
    expect((await stored()).email.de.subject).to.equal('Anmelden bei {app}')

    await page.getByRole('button', { name: 'Back to the built-in text' }).click()
    await preview.getByText('123456 ist Ihr Demo-Bestätigungscode.').first().waitFor()
    await save(page)
    expect((await stored()).email).to.deep.equal({})
  })

  it('takes the secret of the Supabase hook, shows only its fingerprint, and removes it', async () => {
    const { page, admin } = await open.operator(await start())
    await page.goto('/settings')
    const card = page.getByRole('region', { name: 'Supabase Auth' })
    await card.getByText(`/hooks/supabase/${APP}`).waitFor()
    const set = card.getByRole('button', { name: 'Set the test secret' })
    await set.click()
    await page.getByLabel('Secret', { exact: true }).fill('whsec_short')
    await page.getByRole('button', { name: 'Save secret' }).click()
    await page.getByText('at least 16 bytes in base64').waitFor()
    await page.getByLabel('Secret', { exact: true }).fill('v1,whsec_c2VjcmV0LW9mLXN1cGFiYXNl')
    await page.getByRole('button', { name: 'Save secret' }).click()
    await page.getByText('The secret is saved.').waitFor()
    const stored = async () => (await admin('GET', `/apps/${APP}/hooks/supabase`)).body.secrets
    const { test, live } = await stored()
    expect([/^hmac:/.test(test), live]).to.deep.equal([true, null])
    await card.getByText(test).waitFor()
    await card.getByRole('button', { name: 'Remove the test secret' }).click()
    await page.getByRole('button', { name: 'Remove secret' }).click()
    await page.getByText('The secret is removed.').waitFor()
    expect(await stored()).to.deep.equal({ test: null, live: null })
  })

  it('lets a viewer change nothing', async () => {
    const { page } = await open.user(await start(), COMPANY, 'viewer')
    await page.goto('/settings')
    await page.getByText('Only developers and owners of your company can change the settings.').waitFor()
    expect(await page.getByLabel('Digits of a code').isDisabled()).to.equal(true)
    expect(await page.getByLabel('Allowed origins').isDisabled()).to.equal(true)
    await page.getByRole('table', { name: 'Secrets of the hook' }).waitFor()
    expect(await page.getByRole('button', { name: 'Set the test secret' }).count()).to.equal(0)
  })

  for (const { theme, size } of LOOKS)
    it(`is accessible with a refusal, ${theme}, on a ${size}, without sideways scrolling`, async () => {
      const { page } = await open.operator(await start(), { theme, size })
      await page.goto('/settings')
      await page.getByLabel('Digits of a code').fill('12')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('Nothing was saved.').waitFor()
      await page.getByRole('table', { name: 'Secrets of the hook' }).waitFor()
      await expectAccessible(page)
      const width = await page.locator('html').evaluate(({ scrollWidth }) => scrollWidth)
      expect(width).to.be.at.most(SIZES[size].width)
    })
})
