// The settings screen, in a real browser.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import type { Locator } from 'playwright-core'
import { describeInBrowser, expectAccessibleInEveryLook, saveSettings } from '../support/browser.ts'

interface InPage {
  getComputedStyle(element: unknown): Record<string, string>
}

const styleOf = (shown: Locator, property: string): Promise<string | undefined> =>
  shown.evaluate((element, name) => (globalThis as unknown as InPage).getComputedStyle(element)[name], property)

/** Tries everything by which a mail could run a script, load something, send something or lead away. */
const hostileMail = (away: string, own: string): string => `
<meta http-equiv="refresh" content="0; url=${away}/refresh">
<base href="${away}/">
<link rel="stylesheet" href="${away}/link.css"><link rel="preconnect" href="${away}"><link rel="prefetch" href="${away}/prefetch">
<link rel="preload" as="image" href="${away}/preload"><link rel="icon" href="${away}/icon">
<style>@import url(${away}/import.css); p { color: rgb(1, 2, 3) } div { background: url(${away}/background) }
@font-face { font-family: leak; src: url(${away}/font) } p { font-family: leak, serif }</style>
<script>document.body.dataset.ran = top.document.body.dataset.ran = '1'</script>
<script src="${own}/theme.js?leak"></script>
<p>{code} for {app}</p><div>shown</div>
<img src="${away}/picture" onerror="document.body.dataset.ran = '1'"><img src="${own}/favicon.svg?leak">
<svg onload="document.body.dataset.ran = '1'"></svg><video poster="${away}/poster" src="${away}/video" autoplay></video>
<iframe src="${away}/frame"></iframe><object data="${away}/object"></object><embed src="${away}/embed">
<a href="${away}/link">a link</a> <a href="${away}/window" target="_blank">a new window</a> <a href="${away}/self" target="_self">the same frame</a> <a href="javascript:document.body.dataset.ran='1'">script</a>
<form action="${own}/admin/v1/sign-out?leak" method="post"><button>send</button></form>`

describeInBrowser('the settings screen', open => {
  it('says a refusal beside its field, and loses nothing else', async () => {
    const { page, admin, app } = await open.shop()
    await page.goto('/overview')
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.waitForURL(`**/a/${app}/settings`)
    const digits = page.getByLabel('Digits of a code')
    const origins = page.getByLabel('Allowed origins')
    await digits.fill('12')
    await page.getByLabel('How long a code is valid').fill('5 minutes')
    await origins.fill('https://shop.example\nhttps://*.example')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Must be a whole number from 4 to 10.').waitFor()
    await page.getByText('Has no wildcards: list every origin by itself').waitFor()
    await expectAccessibleInEveryLook(page)
    expect((await admin('GET', `/apps/${app}`)).body.settings.code).to.deep.equal({ length: 6, ttl_seconds: 600 })
    expect(await digits.evaluate(field => field.matches(':focus')), 'the first refused field').to.equal(true)
    expect(await page.getByLabel('How long a code is valid').inputValue()).to.equal('5 minutes')

    await digits.fill('8')
    await page.getByText('Must be a whole number from 4 to 10.').waitFor({ state: 'detached' })
    await origins.fill('https://shop.example\n')
    await page.getByRole('switch', { name: 'Publishable keys may send in live mode' }).click()
    await saveSettings(page)
    const { settings } = (await admin('GET', `/apps/${app}`)).body
    expect(settings.code).to.deep.equal({ length: 8, ttl_seconds: 300 })
    expect(settings.allowed_origins).to.deep.equal(['https://shop.example'])
    expect(settings.publishable_send).to.equal(true)
  })

  it('says what another screen must allow first', async () => {
    const { page } = await open.shop()
    await page.goto('/settings')
    await page.getByLabel('Digits of a code').fill('4')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('“Wrong codes for one recipient”, under Limits and fraud allows 100 guesses').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    expect(await page.getByLabel('Digits of a code').inputValue()).to.equal('6')
    await page.getByText('Unsaved changes', { exact: true }).waitFor({ state: 'detached' })
  })

  it('says what another user has saved in the same field, and replaces it when it is saved again', async () => {
    const { page, admin, app } = await open.shop()
    await page.goto('/settings')
    const language = page.getByLabel('Default language')
    await language.fill('fr')
    const stored = async () => (await admin('GET', `/apps/${app}`)).body.settings
    await admin('PATCH', `/apps/${app}`, { settings: { locale: 'de', send_attempts: 7 } })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Nothing was saved.').waitFor()
    await page.getByText('Default language (locale) is now: de').waitFor()
    expect(await language.inputValue(), 'the own draft').to.equal('fr')
    expect(await page.getByLabel('Messages per verification').inputValue(), 'not edited here').to.equal('7')
    expect((await stored()).locale).to.equal('de')
    await page.reload()
    await page.getByText('Default language (locale) is now: de').waitFor()
    await saveSettings(page)
    expect(await stored()).to.include({ locale: 'fr', send_attempts: 7 })
    await page.getByText('Unsaved changes', { exact: true }).waitFor({ state: 'detached' })
  })

  it('has saved what is stored already, because an answer was lost or another user saved the same, and saves the rest', async () => {
    const { page, admin, app } = await open.shop()
    const stored = async () => (await admin('GET', `/apps/${app}`)).body.settings
    await page.goto('/settings')
    const language = page.getByLabel('Default language')
    await language.fill('fr')
    let isLost = false
    await page.route(`**/admin/v1/apps/${app}`, async route => {
      if (isLost || route.request().method() !== 'PATCH') return route.continue()
      isLost = true
      await route.fetch()
      await route.abort()
    })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Countersign cannot be reached.').waitFor()
    expect((await stored()).locale).to.equal('fr')
    await saveSettings(page)

    await language.fill('de')
    await page.getByLabel('Messages per verification').fill('7')
    await admin('PATCH', `/apps/${app}`, { settings: { locale: 'de' } })
    await saveSettings(page)
    expect(await stored()).to.include({ locale: 'de', send_attempts: 7 })
  })

  it('edits texts by channel and language, with a preview that counts segments, and goes back to the built-in ones', async () => {
    const { page, admin, app } = await open.shop()
    const stored = async () => (await admin('GET', `/apps/${app}`)).body.settings.texts
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
    await text.fill('Der Code')
    await page.getByText('Has no {code}').waitFor({ state: 'detached' })
    await page.getByLabel('Message', { exact: true }).selectOption('Email')
    await page.getByLabel('Language', { exact: true }).selectOption('English')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Has no {code}').waitFor()
    expect(await text.inputValue(), 'the refused text is brought up').to.equal('Der Code')
    expect(await text.evaluate(field => field.matches(':focus'))).to.equal(true)
    await text.fill('Ваш код {code} — {app}')
    await preview.getByText('Ваш код 123456 — Demo').waitFor()
    await preview.getByText('UCS-2, 21 characters, 1 segment.').waitFor()
    await saveSettings(page)
    expect(await stored()).to.deep.equal({ sms: { de: { text: 'Ваш код {code} — {app}' } }, email: {}, whatsapp: {} })

    await page.getByLabel('Message', { exact: true }).selectOption('Email')
    await page.getByLabel('Subject').fill('Anmelden bei {app}')
    await preview.getByText('Anmelden bei Demo').waitFor()
    await saveSettings(page)
    expect((await stored()).email.de.subject).to.equal('Anmelden bei {app}')

    await page.getByRole('button', { name: 'Back to the built-in text' }).click()
    await preview.getByText('123456 ist Ihr Demo-Bestätigungscode.').first().waitFor()
    await saveSettings(page)
    expect((await stored()).email).to.deep.equal({})
  })

  it('shows the HTML of a mail with its styles, and runs, loads and sends nothing of it', async () => {
    let connections = 0
    const elsewhere = createServer((_, response) => void response.end()).on('connection', () => {
      connections += 1
    })
    await new Promise<void>(resolve => void elsewhere.listen(0, '127.0.0.1', resolve))
    try {
      const { page, app } = await open.shop({ reportsRefusals: true })
      const answered: string[] = []
      page.on('response', response => answered.push(response.url()))
      await page.goto('/settings')
      await page.getByLabel('Message', { exact: true }).selectOption('Email')
      const mail = page.frameLocator('iframe[title="HTML part"]').frameLocator('iframe')
      const builtIn = mail.locator('bdi[dir=ltr]', { hasText: '123456' })
      await builtIn.waitFor()
      expect(await styleOf(builtIn, 'fontSize')).to.equal('28px')

      const away = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`
      const own = new URL(page.url()).origin
      await page.getByLabel('HTML', { exact: true }).fill(hostileMail(away, own))
      const code = mail.getByText('123456 for Demo')
      await code.waitFor()
      expect(await styleOf(code, 'color'), 'a style of its own').to.equal('rgb(1, 2, 3)')
      await mail.getByText('a link').click()
      await mail.getByText('a new window').click()
      await mail.getByRole('button', { name: 'send' }).click()
      // The frame stands as it was: no script ran, and it went nowhere.
      await code.waitFor()
      expect(await mail.locator('body').getAttribute('data-ran')).to.equal(null)
      expect(await page.evaluate('document.body.dataset.ran'), 'in the page').to.equal(undefined)
      expect(await mail.locator('html').evaluate(() => (globalThis as { origin?: string }).origin)).to.equal('null')
      expect(
        page
          .context()
          .pages()
          .filter(one => one.url().startsWith(away)),
      ).to.deep.equal([])
      expect(new URL(page.url()).pathname).to.equal(`/a/${app}/settings`)
      expect(answered.filter(url => !url.startsWith(own) || url.includes('leak'))).to.deep.equal([])
      await mail.getByText('the same frame').click()
      await code.waitFor({ state: 'detached' })
      expect(connections, 'connections to elsewhere').to.equal(0)
    } finally {
      await new Promise(resolve => elsewhere.close(resolve))
    }
  })

  it('takes the secrets of the Supabase hooks, shows only their fingerprints, and removes one', async () => {
    const { page, admin, app } = await open.shop()
    await page.goto('/settings')
    const card = page.getByRole('region', { name: 'Supabase Auth' })
    await card.getByText(`/hooks/supabase/${app}`).waitFor()
    await card.getByRole('button', { name: 'Add a test secret' }).click()
    await page.getByLabel('Secret', { exact: true }).fill('whsec_short')
    await page.getByRole('button', { name: 'Save secret' }).click()
    await page.getByText('at least 16 bytes in base64').waitFor()
    await page.getByLabel('Secret', { exact: true }).fill('v1,whsec_c2VjcmV0LW9mLXN1cGFiYXNl')
    await page.getByRole('button', { name: 'Save secret' }).click()
    await page.getByText('The secret is saved.').waitFor()
    const stored = async () => (await admin('GET', `/apps/${app}/hooks/supabase`)).body.secrets
    const { test, live } = await stored()
    expect([/^hmac:/.test(test[0]), live]).to.deep.equal([true, []])
    await card.getByRole('button', { name: `Remove the test secret ${test[0]}` }).click()
    await page.getByRole('button', { name: 'Remove secret' }).click()
    await page.getByText('The secret is removed.').waitFor()
    expect(await stored()).to.deep.equal({ test: [], live: [] })
  })
})
