// What saving prices does to companies whose balance does not pay for them, in words.
import type { Schemas } from '../../api/schema.ts'

export type PricesTrial = Schemas['PricesTrial']

export function cutOffWords({ companies, cut_off }: PricesTrial): { title: string; text: string } {
  const one = cut_off === 1
  return {
    title: one ? 'Cut off 1 company?' : `Cut off ${cut_off} companies?`,
    text: `The balance of ${cut_off} of ${companies} ${companies === 1 ? 'company' : 'companies'} does not pay for messages at these prices. ${
      one ? 'Its' : 'Their'
    } live sends will be refused with 402 within five seconds, until ${one ? 'it is' : 'they are'} credited. To avoid that, credit ${
      one ? 'it' : 'them'
    } first.`,
  }
}
