import { expect } from 'chai'
import fc from 'fast-check'
import { fillBody } from '../../../../services/channel/providers/http.ts'
import { anyText } from '../../../support/any-text.ts'
import { CODE, DELIVERY_ID, RECIPIENT } from '../../../support/vendors/provider-fixtures.ts'

const TEXT = 'Shop: your code is 739164.'

describe('the body of an HTTP gateway', () => {
  const values = { recipient: RECIPIENT, text: TEXT, code: CODE, delivery_id: DELIVERY_ID }

  it('has placeholders filled in every string at any depth, and nowhere else', () => {
    const body = {
      a: ['{{code}}{{code}}', 1, null, true],
      '{{code}}': '{{ code }} {{Code}} {{other}} {code} {{{code}}}',
    }
    expect(fillBody(body, values)).to.deep.equal({
      a: [CODE + CODE, 1, null, true],
      '{{code}}': `{{ code }} {{Code}} {{other}} {code} {${CODE}}`,
    })
    expect(fillBody('{{text}}', values)).to.equal(TEXT)
    expect(fillBody(7, values)).to.equal(7)
  })

  it('keeps placeholders in values as they are', () => {
    const withPlaceholders = { ...values, text: '{{code}} {{text}} $& $1', recipient: '{{delivery_id}}' }
    expect(fillBody('{{text}}|{{recipient}}', withPlaceholders)).to.equal('{{code}} {{text}} $& $1|{{delivery_id}}')
  })

  it('keeps a member named __proto__', () => {
    const body = JSON.parse('{"__proto__": {"a": "{{code}}"}}')
    expect(JSON.stringify(fillBody(body, values))).to.equal(`{"__proto__":{"a":"${CODE}"}}`)
  })

  it('contains every value unchanged', () => {
    const value = fc.oneof(anyText(), fc.constantFrom('{{code}}', '"', '\\', '\n', '$&', '}}', '{{'))
    const anyValues = fc.record({ recipient: value, text: value, code: value, delivery_id: value })
    const pieces = fc.array(fc.constantFrom('{{recipient}}', '{{text}}', '{{code}}', '{{delivery_id}}', ' ', 'x', '{'))
    fc.assert(
      fc.property(pieces, anyValues, (parts, given) => {
        // A '{' before a placeholder would make another placeholder.
        fc.pre(!parts.join('').includes('{{{'))
        const sent = JSON.parse(JSON.stringify(fillBody({ parts, whole: parts.join('') }, given)))
        const expected = parts.map(part => given[part.slice(2, -2) as keyof typeof given] ?? part)
        expect(sent.parts).to.deep.equal(expected)
        expect(sent.whole).to.equal(expected.join(''))
      }),
    )
  })

  it('stays the same without placeholders', () => {
    fc.assert(
      fc.property(fc.jsonValue(), body => {
        fc.pre(!JSON.stringify(body).includes('{{'))
        expect(fillBody(body as Parameters<typeof fillBody>[0], values)).to.deep.equal(body)
      }),
    )
  })
})
