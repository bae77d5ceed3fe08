import { Buffer } from 'node:buffer'
import { BlockList } from 'node:net'
import { expect } from 'chai'
import fc from 'fast-check'
import { publicIpAddress } from '../../../../infra/ip-address.ts'
import { includesAddress } from '../../../../services/domain/address-lists/intervals.ts'
import { type ParsedList, type Progress, parseList } from '../../../../services/domain/address-lists/list-parser.ts'
import { createRangeBuffer, parseAddress } from '../../../../services/domain/address-lists/notation.ts'
import { RESERVED_V4, RESERVED_V6 } from '../../../../services/domain/address-lists/reserved.ts'
import { propertyRuns } from '../../../support/property-runs.ts'

const read = (text: string | Uint8Array): Promise<ParsedList> => parseList(Buffer.from(text), async () => {})

const holdsIn = ({ set }: ParsedList, address: string): boolean => {
  const into = createRangeBuffer()
  const words = parseAddress(address, into)
  return words !== 0 && includesAddress(words === 1 ? set.v4 : set.v6, into)
}

const v4 = fc.tuple(fc.constantFrom(8, 45, 91, 185), fc.nat(3), fc.nat(3), fc.nat(255)).map(parts => parts.join('.'))
const v6 = fc.tuple(fc.nat(3), fc.nat(0xffff)).map(([net, host]) => `2a01:${net}::${host.toString(16)}`)

const familyOf = (address: string) => (address.includes(':') ? 'ipv6' : 'ipv4')

describe('parsing a list', () => {
  it('finds the same addresses as node:net’s BlockList', async () => {
    const line = fc.oneof(
      fc.record({ address: v4, bits: fc.integer({ min: 0, max: 32 }) }),
      fc.record({ address: v6, bits: fc.integer({ min: 0, max: 128 }) }),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 30 }),
        fc.array(fc.oneof(v4, v6), { minLength: 5 }),
        async (lines, asked) => {
          // One BlockList per family, because node:net finds an IPv4 address in `::/0` as well.
          const oracle = { ipv4: new BlockList(), ipv6: new BlockList() }
          for (const { address, bits } of lines) oracle[familyOf(address)].addSubnet(address, bits, familyOf(address))
          const answer = await read(lines.map(({ address, bits }) => `${address}/${bits}`).join('\n'))
          for (const address of asked)
            expect(holdsIn(answer, address), address).to.equal(
              oracle[familyOf(address)].check(address, familyOf(address)),
            )
        },
      ),
      { numRuns: propertyRuns(100) },
    )
  })

  it('accepts comments, blank lines, spaces, both line ends and a byte order mark', async () => {
    const text = '\ufeff8.8.8.8\r\n# a comment\r\n\r\n  9.9.9.0/24 ; SBL1\t\n;also\n2a01::1#x\n\t1.1.1.1'
    const { set: _, ...counts } = await read(text)
    expect(counts).to.deep.equal({ ranges: 4, entries: 4, ignored: 0, bad: 0, bad_lines: [] })
  })

  it('reports the numbers of the first bad lines, and keeps the others', async () => {
    const answer = await read('8.8.8.8\nnonsense\n\n1.2.3.4.5\n9.9.9.9\n<html>')
    expect(answer).to.deep.include({ ranges: 2, entries: 5, bad: 3, bad_lines: [2, 4, 6] })
    const { bad, bad_lines } = await read('x\n'.repeat(1_000))
    expect([bad, bad_lines.length]).to.deep.equal([1_000, 20])
  })

  it('never fails on any bytes', async () => {
    await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async bytes => void (await read(bytes))))
    expect(await read('')).to.deep.include({ ranges: 0, entries: 0 })
    expect(await read('9'.repeat(3_000_000))).to.deep.include({ entries: 1, bad: 1, bad_lines: [1] })
    expect(await read(`#${'9'.repeat(3_000_000)}`)).to.deep.include({ entries: 0, bad: 0 })
    expect((await read(Buffer.from('8.8.8.8\n', 'utf16le'))).ranges, 'no encoding of ours').to.equal(0)
  })

  it('is done in batches, with line numbers and ranges over all of them', async () => {
    const address = (nth: number): string => `11.${nth >> 15}.${(nth >> 7) & 255}.${(nth & 127) * 2}`
    const lines = Array.from({ length: 60_000 }, (_, nth) => (nth % 20_000 === 19_999 ? 'bad' : address(nth)))
    const text = lines.join('\n')
    const seen: Progress[] = []
    const answer = await parseList(Buffer.from(text), async progress => void seen.push(progress))
    expect(answer).to.deep.include({ ranges: 59_997, bad_lines: [20_000, 40_000, 60_000] })
    expect(seen.length).to.be.greaterThan(5)
    expect(seen.at(-1)).to.deep.equal({ lines: 60_000, bytes: text.length })
    for (const nth of [0, 7_777, 32_768, 59_998]) expect(holdsIn(answer, address(nth))).to.equal(true)
    expect(holdsIn(answer, '11.0.0.1')).to.equal(false)
  })

  it('ends when the pause between two batches throws', async () => {
    const ended = parseList(Buffer.from('8.8.8.8\n'.repeat(50_000)), async () => {
      throw new Error('enough')
    })
    expect(await ended.catch((error: Error) => error.message)).to.equal('enough')
  })
})

describe('private and reserved ranges of a list', () => {
  for (const cidr of [...RESERVED_V4, ...RESERVED_V6])
    it(`include ${cidr}, which is left out`, async () => {
      expect(await read(cidr)).to.deep.include({ ranges: 0, ignored: 1, bad: 0 })
      expect(publicIpAddress(cidr.split('/')[0] ?? '')).to.equal(null)
    })

  it('are those that are not public client addresses', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.ipV4(), fc.ipV6()), async address => {
        expect((await read(address)).ignored, address).to.equal(publicIpAddress(address) === null ? 1 : 0)
      }),
      { numRuns: propertyRuns(600) },
    )
  })

  for (const partly of ['192.0.0.0/8', '0.0.0.0/0', '::/0', '2000::/3'])
    it(`do not include ${partly}, which is partly public`, async () => {
      expect(await read(partly)).to.deep.include({ ranges: 1, ignored: 0 })
    })

  it('are left out as IPv4-mapped IPv6 too', async () => {
    expect(await read('::ffff:10.0.0.0/104\n::ffff:8.8.8.8')).to.deep.include({ ranges: 1, ignored: 1 })
  })
})
