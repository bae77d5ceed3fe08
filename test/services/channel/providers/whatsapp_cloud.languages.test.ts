import { expect } from 'chai'
import { metaLanguages } from '../../../../services/channel/providers/whatsapp_cloud.languages.ts'
import { LANGUAGES } from '../../../../services/domain/texts/message-text.ts'

/** Languages that we have texts in and Meta has no templates in. Users of these get the English template. */
const WITHOUT_TEMPLATES: readonly string[] = []

describe("Meta's languages", () => {
  for (const [tag, codes] of Object.entries({
    en: ['en', 'en_US', 'en_GB'],
    'en-US': ['en_US', 'en', 'en_GB'],
    'en-GB': ['en_GB', 'en', 'en_US'],
    'en-AU': ['en', 'en_US', 'en_GB'],
    es: ['es', 'es_ES', 'es_MX', 'es_AR'],
    'es-MX': ['es_MX', 'es', 'es_ES', 'es_AR'],
    pt: ['pt_BR', 'pt_PT'],
    'pt-PT': ['pt_PT', 'pt_BR'],
    zh: ['zh_CN'],
    'zh-SG': ['zh_CN'],
    'zh-Hant': ['zh_TW', 'zh_HK'],
    'zh-HK': ['zh_HK', 'zh_TW'],
    'zh-Hant-HK': ['zh_HK', 'zh_TW'],
    no: ['nb'],
    nn: ['nb'],
    'nb-NO': ['nb'],
    iw: ['he'],
    tl: ['fil'],
    'fr-CA': ['fr'],
    'sr-Latn': ['sr'],
    ky: ['ky_KG'],
    tlh: [],
    '': [],
    en_US: [],
    '!': [],
    'x-private': [],
  }))
    it(`for ${JSON.stringify(tag)} are ${codes.join(', ') || 'none'}`, () => {
      expect(metaLanguages(tag)).to.deep.equal(codes)
    })

  it('are known for every language that we have texts in', () => {
    expect(LANGUAGES.filter(tag => metaLanguages(tag).length === 0)).to.deep.equal(WITHOUT_TEMPLATES)
  })
})
