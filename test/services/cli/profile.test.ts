// Where a token may go without https. The same rule holds when a token is asked for and when a deployment is checked.
import { expect } from 'chai'
import { isLocalOrHttps } from '../../../services/cli/profile.ts'

describe('an address for a token', () => {
  for (const url of [
    'https://verify.example.com',
    'http://localhost:3000',
    'http://127.0.0.1:3000',
    'http://127.1.2.3',
    'http://[::1]:3000',
  ])
    it(`is safe at ${url}`, () => expect(isLocalOrHttps(url)).to.equal(true))

  for (const url of [
    'http://verify.example.com',
    'http://127.evil.example',
    'http://127.0.0.1.evil.example',
    'http://localhost.evil.example',
    'http://localhost:3000@evil.example',
  ])
    it(`can be read on the way to ${url}`, () => expect(isLocalOrHttps(url)).to.equal(false))
})
