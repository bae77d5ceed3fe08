import { expect } from 'chai'
import fc from 'fast-check'
import { fillBody } from '../../../../services/channel/providers/http.body.ts'
import { CODE, DELIVERY_ID, RECIPIENT } from '../../../support/vendors/provider-fixtures.ts'

const TEXT = 'Shop: your code is 739164.'

describe('the body of an HTTP gateway', () => {
  const filling = { recipient: RECIPIENT, text: TEXT, code: CODE, delivery_id: DELIVERY_ID }

  it('fills every string, wherever it is, and nothing else', () => {
    const body = {
      a: ['{{code}}{{code}}', 1, null, true],
      '{{code}}': '{{ code }} {{Code}} {{other}} {code} {{{code}}}',
    }
    expect(fillBody(body, filling)).to.deep.equal({
      a: [CODE + CODE, 1, null, true],
      '{{code}}': `{{ code }} {{Code}} {{other}} {code} {${CODE}}`,
    })
    expect(fillBody('{{text}}', filling)).to.equal(TEXT)
    expect(fillBody(7, filling)).to.equal(7)
  })

  it('never fills what was filled in', () => {
    const sly = { ...filling, text: '{{code}} {{text}} $& $1', recipient: '{{delivery_id}}' }
    expect(fillBody('{{text}}|{{recipient}}', sly)).to.equal('{{code}} {{text}} $& $1|{{delivery_id}}')
  })

  it('keeps a member named __proto__ a member', () => {
    const body = JSON.parse('{"__proto__": {"a": "{{code}}"}}')
    expect(JSON.stringify(fillBody(body, filling))).to.equal(`{"__proto__":{"a":"${CODE}"}}`)
  })

  it('says every value as it is, in every body', () => {
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('{{code}}', '"', '\\', '\n', '$&', '}}', '{{'),
    )
    const fillings = fc.record({ recipient: value, text: value, code: value, delivery_id: value })
    const pieces = fc.array(fc.constantFrom('{{recipient}}', '{{text}}', '{{code}}', '{{delivery_id}}', ' ', 'x', '{'))
    fc.assert(
      fc.property(pieces, fillings, (parts, given) => {
        // Pieces that only make a placeholder together ('{' before one) are left out.
        fc.pre(!parts.join('').includes('{{{'))
        const sent = JSON.parse(JSON.stringify(fillBody({ parts, whole: parts.join('') }, given)))
        const said = parts.map(part => given[part.slice(2, -2) as keyof typeof given] ?? part)
        expect(sent.parts).to.deep.equal(said)
        expect(sent.whole).to.equal(said.join(''))
      }),
    )
  })

  it('leaves a body without placeholders as it is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), body => {
        fc.pre(!JSON.stringify(body).includes('{{'))
        expect(fillBody(body as Parameters<typeof fillBody>[0], filling)).to.deep.equal(body)
      }),
    )
  })
})
