// The routes of an app as the admin API shows them. In: its providers, their breakers, what is known about routes, and the rule that is in
// force. Out: a row for each country, channel and provider, and a better order. The traffic of servers and of devices, which is learned
// apart, is added up here. Pure.
import { CHANNELS, type Channel } from '../../../machines/channels.ts'
import type { KeyKind } from '../../../machines/otp.ts'
import { estimate, pooledPrior } from '../../../machines/routes.estimate.ts'
import {
  messagesIn,
  passedOn,
  type RouteOption,
  type RouteRule,
  type RouteShare,
  rounded,
  sharesOf,
} from '../../../machines/routes.order.ts'
import { suggestionOver } from '../../../machines/routes.suggestion.ts'
import type { Evidence, Others, RouteFact } from '../../../machines/routes.ts'
import { costIn, mayBeUsed, serves } from '../../../machines/routing.ts'
import { type Provider, scopeOf } from '../../domain/tenancy/documents.ts'
import type { RouteRowAnswer, SuggestionAnswer } from './schemas.ts'
import { becauseWords, type RouteSituation } from './words.ts'

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
  const { providers, open, facts, rule } = input
  const here = facts.filter(fact => fact.channel === channel && fact.country === country)
  const byKind = KINDS.map((kind): OfKind => {
    const ofKind = here.filter(fact => fact.kind === kind)
    const prior = pooledPrior(
      facts.filter(fact => fact.kind === kind),
      channel,
    )
    const messages = messagesIn(ofKind)
    const all = sharesOf(optionsOf(providers, channel, country, ofKind), rule, { prior, messages })
    const shares = passedOn(all, name => open.has(name))
    return { kind, shares, prior, facts: ofKind, messages }
  })
  const messages = messagesIn(here)
  // Where nothing was sent, the shares of servers: they are those of devices too.
  const used = messages === 0 ? byKind.slice(0, 1) : byKind.filter(one => one.messages > 0)
  const shareOf = (name: string): number =>
    used.reduce(
      (sum, one) => sum + (messages === 0 ? 1 : one.messages / messages) * (find(one.shares, name)?.share ?? 0),
      0,
    )
  const prior = pooledPrior(facts, channel)
  return providers
    .filter(provider => provider.channel === channel && serves(scopeOf(provider), country))
    .map(provider => {
      const { name, cost_micros = {} } = provider
      const fact = addedUp(here.filter(one => one.provider === name))
      const measured = measuredOf(provider, open, fact, prior, shareOf(name))
      return {
        channel,
        country,
        provider: name,
        ...measured,
        delivered: fact.delivered,
        approved: fact.approved,
        seconds_p50: fact.seconds_p50,
        cost_micros: costIn(cost_micros, country),
        because: because(provider, measured),
      }
    })

  /** What is said of each kind of key apart, where it is not the same. */
  function because(provider: Provider, measured: Measured): string {
    const situations = used.map(one => situationOf(provider, one))
    const [first] = situations
    const isSame = situations.every(
      one =>
        one.state === first?.state &&
        one.rule === first.rule &&
        one.others === first.others &&
        one.less === first.less &&
        (measured.messages > 0 || one.expected === first.expected) &&
        one.tooFewMessages === first.tooFewMessages,
    )
    if (first && isSame) return becauseWords({ ...first, ...measured })
    return situations.map((one, nth) => `${KIND_WORDS[used[nth]?.kind ?? 'server']} ${becauseWords(one)}`).join(' ')
  }

  function situationOf(provider: Provider, { shares, prior, facts, messages }: OfKind): RouteSituation {
    const { name } = provider
    const fact = addedUp(facts.filter(one => one.provider === name))
    const share = find(shares, name)
    const tooFew = rule.providers === 'best' && !shares.some(one => one.rule === 'best') && shares.length > 1
    return {
      ...measuredOf(provider, open, fact, prior, share?.share ?? 0),
      expected: rounded(share?.mean ?? 0),
      less: share?.less ?? null,
      others: fact.others,
      rule: share?.rule ?? null,
      place: shares.findIndex(one => one.provider === name) + 1,
      usable: shares.length,
      tooFewMessages: tooFew ? messages : null,
    }
  }
}

/** The providers of one place for one kind of key. */
interface OfKind {
  kind: KeyKind
  shares: RouteShare[]
  prior: Evidence
  facts: readonly RouteFact[]
  messages: number
}

const KIND_WORDS: Record<KeyKind, string> = { server: 'For servers:', publishable: 'For devices:' }

type Measured = Pick<RouteRowAnswer, 'messages' | 'conversion' | 'low' | 'high' | 'share' | 'state'>

function measuredOf(
  provider: Provider,
  open: ReadonlySet<string>,
  fact: Known,
  prior: Evidence,
  share: number,
): Measured {
  const { mean, low, high } = estimate(fact.evidence, prior)
  const known = fact.messages > 0
  return {
    messages: fact.messages,
    conversion: known ? rounded(mean) : null,
    low: known ? rounded(low) : null,
    high: known ? rounded(high) : null,
    share: rounded(share),
    state: stateOf(provider, open, fact),
  }
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
  const shares = sharesOf(optionsOf(input.providers, channel, country, here), input.rule, {
    prior: pooledPrior(ofKind, channel),
    messages: messagesIn(here),
  })
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
      return { country, messages: messagesIn(here), options: optionsOf(providers, channel, country, here) }
    })
    const isAsked = ({ country }: { country: string | null }): boolean => asked === undefined || country === asked
    const found = suggestionOver(places, isAsked, rule.worth_micros, pooledPrior(ofKind, channel))
    if (found === null) return []
    const others = providers.filter(one => one.channel === channel && one.name !== found.provider)
    const order = others.map(({ name }) => name).toSpliced(found.to, 0, found.provider)
    const { gain, approvals, cost_micros, because } = found
    return [{ channel, order, gain, approvals, cost_micros, because }]
  })
  return all.toSorted((one, other) => other.gain - one.gain)[0] ?? null
}

/** The providers that a message there may be given to, as the channel actor orders them. */
const optionsOf = (
  providers: readonly Provider[],
  channel: Channel,
  country: string | null,
  facts: readonly RouteFact[],
): RouteOption[] =>
  providers
    .filter(one => one.channel === channel)
    .flatMap((one, listed) =>
      mayBeUsed(scopeOf(one), country)
        ? {
            provider: one.name,
            fact: facts.find(({ provider }) => provider === one.name) ?? null,
            cost_micros: costIn(one.cost_micros ?? {}, country),
            listed,
          }
        : [],
    )

const find = (shares: readonly RouteShare[], name: string): RouteShare | undefined =>
  shares.find(({ provider }) => provider === name)

type Known = Pick<RouteFact, 'messages' | 'delivered' | 'approved' | 'evidence' | 'seconds_p50'> & {
  silent: boolean
  others: Others | null
}

/** Adds the facts of servers to those of devices. */
function addedUp(facts: readonly RouteFact[]): Known {
  const [most] = facts.toSorted((one, other) => other.approved - one.approved)
  const sum = (of: (fact: RouteFact) => number): number => facts.reduce((total, fact) => total + of(fact), 0)
  return {
    messages: messagesIn(facts),
    delivered: sum(({ delivered }) => delivered),
    approved: sum(({ approved }) => approved),
    evidence: { approved: sum(({ evidence }) => evidence.approved), missed: sum(({ evidence }) => evidence.missed) },
    seconds_p50: most?.seconds_p50 ?? null,
    silent: facts.some(({ silence }) => silence.since !== null),
    others: facts.find(({ silence }) => silence.since !== null)?.silence.others ?? null,
  }
}

function stateOf({ name, paused }: Provider, open: ReadonlySet<string>, { silent }: Known): RouteRowAnswer['state'] {
  if (paused) return 'paused'
  if (open.has(name)) return 'open'
  return silent ? 'silent' : 'ok'
}
