// What the command palette offers for what was typed.
import { expect } from 'chai'
import { paletteEntries } from '../../../../services/dashboard/web/shell/palette-entries.ts'

const SOURCE = {
  screens: [
    { path: '/api-keys', name: 'API Keys' },
    { path: '/limits', name: 'Limits and fraud' },
  ],
  apps: [{ id: 'app_1', name: 'Shop' }],
  companies: [{ id: 'cmp_1', name: 'Acme' }],
}
const names = (typed: string): string[] => paletteEntries(typed, SOURCE).map(({ name }) => name)

describe('the command palette', () => {
  it('finds a screen by what is on it, after screens of that name', () => {
    expect(names('webhook')[0]).to.equal('API Keys')
    expect(names('spend cap')[0]).to.equal('Limits and fraud')
  })

  it('searches first for what looks like a recipient', () => {
    for (const typed of ['+44 7911 123456', '447911', 'ada@shop.example'])
      expect(names(typed)[0]).to.equal(`Search verifications for ${typed}`)
    expect(paletteEntries('+44 7911', SOURCE)[0]?.path).to.equal('/verifications?recipient=%2B44%207911')
  })

  it('opens a verification by its id', () => {
    expect(paletteEntries(' otp_1 ', SOURCE)[0]).to.include({ name: 'Open otp_1', path: '/verifications/otp_1' })
    expect(paletteEntries('otp_1/../x?a#b', SOURCE)[0]?.path).to.equal('/verifications/otp_1%2F..%2Fx%3Fa%23b')
  })
})
