// Where the sign-in page sends a viewer: to a screen of its own site only.
import { expect } from 'chai'
import { nextPath } from '../../../../services/dashboard/web/screens/sign-in/next-path.ts'

describe('the path after signing in', () => {
  for (const next of [
    '/money',
    '/try?recipient=%2B15005550010',
    '/a/app_1/verifications/otp_1',
    '/c/cmp_1/privacy?app=app_1',
  ])
    it(`is the wanted one: ${next}`, () => expect(nextPath(next)).to.equal(next))

  for (const next of [
    undefined,
    '',
    '/',
    '/sign-in',
    'money',
    '/docs',
    '/admin/v1/apps',
    '/verifications/',
    '/a/%zz/overview',
    '/b/app_1/overview',
    '/c/cmp_1/queues',
    '/a/../overview/x',
    'https://evil.example/money',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/x/..//evil.example',
    '/.//evil.example',
    'javascript:alert(1)',
    ' //evil.example',
  ])
    it(`is the overview instead of ${JSON.stringify(next)}`, () => expect(nextPath(next)).to.equal('/overview'))

  it('leaves the site for no text made of the characters that browsers treat as special', () => {
    const parts = ['/', '\\', '\t', '\r', '.', '..', '@', ':', 'evil.example', '%2f', '?', '#', ' ']
    for (let seed = 0; seed < parts.length ** 4; seed += 1) {
      let rest = seed
      let next = '/'
      for (let at = 0; at < 4; at += 1) {
        next += parts[rest % parts.length]
        rest = Math.floor(rest / parts.length)
      }
      const path = nextPath(next)
      expect(new URL(path, 'https://countersign.example').origin, JSON.stringify(next)).to.equal(
        'https://countersign.example',
      )
    }
  })
})
