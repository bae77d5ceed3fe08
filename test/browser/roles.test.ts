// What people who may not change everything see in a real browser: why a screen can change nothing, and which controls are left. What each
// role may do is tested on the admin API.
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { describeInBrowser } from '../support/browser.ts'

const FILTERS = [
  'Recipient or id',
  'Search',
  'All apps',
  'Status',
  'Channel',
  'Country',
  'Mode',
  'Last message',
  'Metadata',
]

/** By the path of a screen: why, and the controls that are left. */
const OF_A_VIEWER: Readonly<Record<string, [words: string[], left: string[]]>> = {
  '/overview': [
    ['Demo has not sent a code yet.', 'Only developers and owners of your company can set the app up.'],
    [],
  ],
  '/verifications': [
    ['No verification of Demo is on record.'],
    ['Verifications', 'Refusals', ...FILTERS, 'Since', 'Until', 'Export CSV'],
  ],
  '/api-keys': [
    ['Only developers and owners of your company can create and revoke keys.', 'Nothing has happened yet.'],
    ['Show revoked keys', 'Export CSV', 'Copy Account SID', 'Copy Service SID', 'Copy', 'Copy'],
  ],
  '/routing': [
    ['Only developers and owners of your company can change the routing.'],
    ['Recipient', 'Sent with', 'Explain'],
  ],
  '/providers': [['Only developers and owners of your company can change and test providers.'], []],
  '/limits': [
    [
      'Only developers and owners of your company can change the limits.',
      'Only operators of this deployment can see and change these lists.',
    ],
    [],
  ],
  '/settings': [
    [
      'Only developers and owners of your company can change the settings.',
      'No secret is set: calls of Supabase are refused.',
    ],
    ['Message', 'Language', 'Copy'],
  ],
  '/money': [
    [
      'Only operators of this deployment can credit the company.',
      'Only operators of this deployment can set prices.',
      'Only owners of your company can run it',
    ],
    ['Print', 'Export statement', 'Month', 'Export CSV'],
  ],
  '/team': [['Only owners of your company can invite people'], ['Copy id', 'Copy id', 'End all']],
  '/queues': [['Only operators of this deployment can see them.'], []],
  '/privacy': [['Only developers and owners of your company can erase a person.'], []],
  '/try': [
    ['Only developers and owners of your company can try it, because it creates test keys.'],
    ['Messages to', 'Show messages'],
  ],
}

/** The names of the buttons and fields of the screen that can be used. */
const controls = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    // biome-ignore lint/suspicious/noExplicitAny: the page's own document
    const main = (globalThis as any).document.querySelector('main')
    const all = [...main.querySelectorAll('button:enabled, :is(input, select, textarea):enabled:not([readonly])')]
    return all.map(one => (one.labels?.[0] ?? one).textContent.trim())
  })

describeInBrowser('a role that may not change everything', open => {
  it('is told on each screen why a viewer can change nothing there, and has no control and no offer to', async () => {
    const { page } = await open.member('viewer')
    const offers = page.getByRole('main').getByRole('link', { name: /first code|vendor|your endpoint|Add a provider/ })
    for (const [path, [words, left]] of Object.entries(OF_A_VIEWER)) {
      await page.goto(path)
      for (const one of words) await page.getByText(one).first().waitFor()
      await page.locator('.loading').first().waitFor({ state: 'detached' })
      expect(await controls(page), path).to.deep.equal(left)
      expect(await offers.count(), path).to.equal(0)
    }
  })

  it('lets a developer create an app, and invite no one', async () => {
    const { page } = await open.member('developer')
    await page.goto('/team')
    await page.getByText('Only owners of your company can invite people').waitFor()
    const left = await controls(page)
    expect(left).to.include('Create app')
    for (const name of ['Invite person', 'Change role', 'Remove', 'Rename company', 'Create company'])
      expect(left).not.to.include(name)
  })
})
