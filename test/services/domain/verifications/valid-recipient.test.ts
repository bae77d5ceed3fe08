import { expect } from 'chai'
import { parseRecipient } from '../../../../services/domain/verifications/valid-recipient.ts'

describe('parseRecipient', () => {
  const phones: [string, string | null, string][] = [
    ['+447911123456', 'GG', '44'],
    ['+14155552671', 'US', '1'],
    ['+5511987654321', 'BR', '55'],
    ['+881612345678', null, '881'],
  ]
  for (const [number, country, callingCode] of phones)
    it(`accepts ${number} as a number of ${country ?? 'no country'}`, () =>
      expect(parseRecipient(number)).to.deep.equal({ kind: 'phone', value: number, country, callingCode }))

  const kinds: [string, string][] = [
    ['+442079460018', 'fixed_line'],
    ['+19002345678', 'premium_rate'],
    ['+447640123456', 'pager'],
    ['+18002345678', 'toll_free'],
  ]
  for (const [number, kind] of kinds)
    it(`knows ${number} as ${kind}`, () =>
      expect(parseRecipient(number)).to.include({ kind: 'phone', numberKind: kind }))

  const emails: [string, string][] = [
    ['user@Example.COM', 'user@example.com'],
    ['User.Name+tag@example.co.uk', 'User.Name+tag@example.co.uk'],
    ['+447911123456@example.com', '+447911123456@example.com'],
    ['ü@BÜCHER.de', 'ü@bücher.de'],
    ['a@xn--bcher-kva.de', 'a@bücher.de'],
  ]
  for (const [given, value] of emails)
    it(`turns ${given} into ${value}`, () => expect(parseRecipient(given)).to.deep.equal({ kind: 'email', value }))

  const refused = [
    '',
    '+',
    '+44791112345',
    '+1 4155552671',
    '+14155552671 ',
    '004477911123456',
    '+0123456789',
    '4155552671',
    '@b.com',
    'a@b',
    'a..b@c.com',
    '.a@c.com',
    '"x y"@a.com',
    'Foo <a@b.com>',
    'a@b.com,c@d.com',
    'a@b.com\n',
    'a@[1.2.3.4]',
    'a@-b.com',
    'a@b.com.',
    'a@b_c.com',
    `${'x'.repeat(65)}@b.com`,
    `a@${'b'.repeat(64)}.com`,
    `a@${'b.'.repeat(130)}com`,
  ]
  for (const text of refused)
    it(`refuses ${JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)}`, () =>
      expect(parseRecipient(text)).to.equal(null))
})
