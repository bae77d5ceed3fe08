// The routes of an app as the admin API shows them. In: its providers, their breakers, what is known about routes, and the rule that is in
// force. Out: a row for each country, channel and provider, and a better order. The traffic of servers and of devices, which is learned
// apart, is added up here. Pure.
import { CHANNELS, type Channel } from '../../../machines/channels.ts'
import type { KeyKind } from '../../../machines/otp.ts'
import { estimate, pooledPrior } from '../../../machines/routes.estimate.ts'
import { type RouteOption, type RouteRule, type RouteShare, sharesOf } from '../../../machines/routes.order.ts'
import { suggestionOver } from '../../../machines/routes.suggestion.ts'
import type { RouteFact } from '../../../machines/routes.ts'
import { costIn, mayBeUsed, serves } from '../../../machines/routing.ts'
import { type Provider, scopeOf } from '../../domain/tenancy/documents.ts'
import type { RouteRowAnswer, SuggestionAnswer } from './schemas.ts'
import { becauseWords } from './words.ts'

export interface RoutesInput {
  /** In the order they are tried. */
  providers: readonly Provider[]
  /** The names of those that are not called, because they fail. */
  open: ReadonlySet<string>
  facts: readonly RouteFact[]
  rule: RouteRule
}

const KINDS: readonly KeyKind[] = ['server', 'publishable']

/** One channel in one country. */
export interface Place {
  channel: Channel
  country: string | null
  messages: number
}

/** Where messages were sent, and where the providers of `country` could send some. The most used country comes first. */
export function placesOf({ providers, facts }: RoutesInput, country: string | undefined): Place[] {
  const places = new Map<string, Place>()
  const placeOf = (channel: Channel, country: string | null): Place => {
    const key = `${channel} ${country}`
    const place = places.get(key) ?? { channel, country, messages: 0 }
    places.set(key, place)
    return place
  }
  for (const fact of facts)
    if (country === undefined || fact.country === country) placeOf(fact.channel, fact.country).messages += fact.messages
  // A country that nothing was sent to has its providers and their shares too.
  if (country !== undefined) for (const { channel } of providers) if (channel !== 'email') placeOf(channel, country)
  const used = new Map<string | null, number>()
  for (const { country, messages } of places.values()) used.set(country, (used.get(country) ?? 0) + messages)
  return [...places.values()].sort(
    (one, other) =>
      (used.get(other.country) ?? 0) - (used.get(one.country) ?? 0) ||
      String(one.country).localeCompare(String(other.country)) ||
      CHANNELS.indexOf(one.channel) - CHANNELS.indexOf(other.channel),
  )
}

/** The providers that serve the country, in the order of the list. */
export function rowsOf(input: RoutesInput, { channel, country }: Place): RouteRowAnswer[] {
  const { providers, facts, rule } = input
  const here = facts.filter(fact => fact.channel === channel && fact.country === country)
  const byKind = KINDS.map(kind => {
    const ofKind = here.filter(fact => fact.kind === kind)
    const prior = pooledPrior(
      facts.filter(fact => fact.kind === kind),
      channel,
    )
    const shares = sharesOf(optionsOf(input, channel, country, ofKind), rule, prior)
    return { shares, messages: messagesOf(ofKind) }
  })
  const messages = messagesOf(here)
  // Where nothing was sent, the shares of servers: they are those of devices too.
  const [main = []] = byKind.toSorted((one, other) => other.messages - one.messages).map(({ shares }) => shares)
  const shareOf = (name: string): number =>
    messages === 0
      ? (main.find(({ provider }) => provider === name)?.share ?? 0)
      : byKind.reduce((sum, kind) => sum + (kind.messages / messages) * (find(kind.shares, name)?.share ?? 0), 0)
  const prior = pooledPrior(facts, channel)
  const tooFew = rule.providers === 'best' && !main.some(share => share.rule === 'best') && main.length > 1
  return providers
    .filter(provider => provider.channel === channel && serves(scopeOf(provider), country))
    .map(provider => {
      const { name, cost_micros = {} } = provider
      const fact = addedUp(here.filter(one => one.provider === name))
      const { mean, low, high } = estimate(fact.evidence, prior)
      const known = fact.messages > 0
      const state = stateOf(provider, input.open, fact)
      const measured = {
        messages: fact.messages,
        conversion: known ? rounded(mean) : null,
        low: known ? rounded(low) : null,
        high: known ? rounded(high) : null,
        share: rounded(shareOf(name)),
        state,
      }
      return {
        channel,
        country,
        provider: name,
        ...measured,
        delivered: fact.delivered,
        approved: fact.approved,
        seconds_p50: fact.seconds_p50,
        cost_micros: costIn(cost_micros, country),
        because: becauseWords({
          ...measured,
          rule: find(main, name)?.rule ?? null,
          place: main.findIndex(share => share.provider === name) + 1,
          usable: main.length,
          tooFewMessages: tooFew ? messages : null,
        }),
      }
    })
}

/** The provider that comes first most often for messages of one kind of key; null where none may be used. */
export function usuallyFirst(
  input: RoutesInput,
  channel: Channel,
  country: string | null,
  kind: KeyKind,
): string | null {
  const ofKind = input.facts.filter(fact => fact.kind === kind)
  const here = ofKind.filter(fact => fact.channel === channel && fact.country === country)
  const shares = sharesOf(optionsOf(input, channel, country, here), input.rule, pooledPrior(ofKind, channel))
  return shares.toSorted((one, other) => other.share - one.share)[0]?.provider ?? null
}

/** A better order of the providers of a channel, by the evidence of `asked` or of any country. Server traffic alone decides where there is
 *  some, so that a flood by devices suggests nothing. */
export function suggestionFor(input: RoutesInput, asked: string | undefined): SuggestionAnswer | null {
  const { providers, facts, rule } = input
  if (rule.providers !== 'listed') return null
  const all = CHANNELS.flatMap(channel => {
    const ofChannel = facts.filter(fact => fact.channel === channel)
    const kind = ofChannel.some(fact => fact.kind === 'server' && fact.messages > 0) ? 'server' : 'publishable'
    const ofKind = ofChannel.filter(fact => fact.kind === kind)
    const places = [...new Set(ofKind.map(({ country }) => country))].map(country => {
      const here = ofKind.filter(fact => fact.country === country)
      return { country, messages: messagesOf(here), options: optionsOf(input, channel, country, here) }
    })
    const isAsked = ({ country }: { country: string | null }): boolean => asked === undefined || country === asked
    const found = suggestionOver(places, isAsked, rule.worth_micros, pooledPrior(ofKind, channel))
    if (found === null) return []
    const names = providers.filter(provider => provider.channel === channel).map(({ name }) => name)
    const order = [found.first, ...names.filter(name => name !== found.first)]
    return [{ channel, order, gain: found.gain, because: found.because }]
  })
  return all.toSorted((one, other) => other.gain - one.gain)[0] ?? null
}

/** The providers that a message there may be given to. */
const optionsOf = (
  { providers, open }: RoutesInput,
  channel: Channel,
  country: string | null,
  facts: readonly RouteFact[],
): RouteOption[] =>
  providers
    .filter(one => one.channel === channel && mayBeUsed(scopeOf(one), country) && !open.has(one.name))
    .map(({ name, cost_micros = {} }, listed) => ({
      provider: name,
      fact: facts.find(({ provider }) => provider === name) ?? null,
      cost_micros: costIn(cost_micros, country),
      listed,
    }))

const messagesOf = (facts: readonly RouteFact[]): number => facts.reduce((sum, { messages }) => sum + messages, 0)

const find = (shares: readonly RouteShare[], name: string): RouteShare | undefined =>
  shares.find(({ provider }) => provider === name)

type Known = Pick<RouteFact, 'messages' | 'delivered' | 'approved' | 'evidence' | 'seconds_p50'> & { silent: boolean }

/** Of servers and of devices. */
function addedUp(facts: readonly RouteFact[]): Known {
  const [most] = facts.toSorted((one, other) => other.approved - one.approved)
  const sum = (of: (fact: RouteFact) => number): number => facts.reduce((total, fact) => total + of(fact), 0)
  return {
    messages: messagesOf(facts),
    delivered: sum(({ delivered }) => delivered),
    approved: sum(({ approved }) => approved),
    evidence: { approved: sum(({ evidence }) => evidence.approved), missed: sum(({ evidence }) => evidence.missed) },
    seconds_p50: most?.seconds_p50 ?? null,
    silent: facts.some(({ silence }) => silence.since !== null),
  }
}

function stateOf({ name, paused }: Provider, open: ReadonlySet<string>, { silent }: Known): RouteRowAnswer['state'] {
  if (paused) return 'paused'
  if (open.has(name)) return 'open'
  return silent ? 'silent' : 'ok'
}

const rounded = (share: number): number => Math.round(share * 1_000) / 1_000
