import { expect } from 'chai'
import fc from 'fast-check'
import { OPT_OUT_WORDS, OPT_OUTS, optOutIn } from '../../machines/opt-out.ts'

const ALL_WORDS = OPT_OUTS.flatMap(asked => OPT_OUT_WORDS[asked].map(word => ({ asked, word })))

describe('words that stop and start messages', () => {
  for (const [text, asked] of [
    ['“STOP”', 'stop'],
    ['opt-out', 'stop'],
    ['Arrêt', 'stop'],
    ['ARRÊTE !', 'stop'],
    ['ＳＴＯＰ', 'stop'],
    ['\u200bStart\u200b', 'start'],
  ] as const)
    it(`takes ${JSON.stringify(text)} for one`, () => {
      expect(optOutIn(text)).to.equal(asked)
    })

  for (const text of ['', 'HELP', 'INFO', 'please do not stop', 'STOP 123456', 'no', 'END OF DAY'])
    it(`takes ${JSON.stringify(text)} for none`, () => {
      expect(optOutIn(text)).to.equal(null)
    })

  const word = fc.constantFrom(...ALL_WORDS)
  const around = fc.stringMatching(/^[ \t\n\u00a0.,!'"-]{0,8}$/)

  it('count in any case, with any space and punctuation around', () => {
    const spelled = fc.tuple(word, fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }), around, around)
    fc.assert(
      fc.property(spelled, ([{ asked, word }, isUpper, before, after]) => {
        const text = [...word].map((letter, at) => (isUpper[at] ? letter : letter.toLowerCase())).join('')
        expect(optOutIn(`${before}${text}${after}`)).to.equal(asked)
      }),
    )
  })

  it('count alone: with any other word beside them the text asks for nothing', () => {
    const letters = fc.stringMatching(/^[a-z]{2,10}$/).filter(other => !['all', 'un'].includes(other))
    fc.assert(
      fc.property(word, letters, fc.boolean(), ({ word }, other, isFirst) => {
        const [one, two] = isFirst ? [other, word] : [word, other]
        expect(optOutIn(`${one} ${two}`)).to.equal(null)
      }),
    )
  })

  it('are found in no text at all by an exception', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), text => {
        expect(optOutIn(text)).to.be.oneOf(['stop', 'start', null])
      }),
    )
  })
})
