// The fraud guard between attackers and honest users, in virtual time, with the default settings and `publishable_send` on. The same seed
// gives the same figures. The table is in docs/fraud.md.
import process from 'node:process'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../infra/time.ts'
import { ALL_ADDRESSES, ALL_NUMBERS, LARGE_PROVIDERS, OTHER_MAIL_DOMAINS } from '../../machines/fraud.groups.ts'
import { parseRecipient } from '../../services/domain/verifications/valid-recipient.ts'
import { createRandom, type Random } from '../support/random.ts'
import { type Call, type Simulation, startSimulation, VPN_NETWORKS } from './fraud.simulation.ts'

const SEED = Number(process.env.BENCH_SEED ?? 1)
const MAX_ATTACK_MESSAGES = 300
/** As many as the attack in docs/fraud.md was run with; they share their counts within seconds. */
const MANY_PROCESSES = 11

const between = (random: Random, min: number, max: number): number => min + random() * (max - min)

// Honest users.

interface Shop {
  signUpsPerHour: number
  verifiedShare: number
  resendShare: number
  vpnShare: number
  /** Whether its users sign up by email. */
  byEmail: boolean
}
const SHOP: Shop = { signUpsPerHour: 200, verifiedShare: 0.85, resendShare: 0.1, vpnShare: 0.1, byEmail: false }
const EMAIL_SHOP: Shop = { ...SHOP, byEmail: true }
const HISTORY_DAYS = 14
/** British ranges of a million numbers, in which the users' numbers are. */
const SHOP_RANGES = Array.from({ length: 60 }, (_, nth) => `+447${700 + nth * 5}`).filter(
  range => parseRecipient(`${range}123456`) !== null,
)

interface Honest {
  calls: number
  refused: number
  challenged: number
  reasons: Map<string, number>
}

function honestNumber(random: Random): string {
  const range = SHOP_RANGES[Math.floor(random() * SHOP_RANGES.length)] ?? ''
  const number = `${range}${String(Math.floor(random() * 1_000_000)).padStart(6, '0')}`
  return parseRecipient(number) === null ? honestNumber(random) : number
}

/** Of the users, so many have a mailbox at a large provider; the others' are at domains of which each has a few. */
const AT_LARGE_PROVIDERS = 0.7
const LARGE = ['gmail.com', 'outlook.com', 'yahoo.com', 'icloud.com']
const SMALL_DOMAINS = 300

function honestRecipient(random: Random, { byEmail }: Shop): string {
  if (!byEmail) return honestNumber(random)
  const name = `user${Math.floor(random() * 1e9)}`
  const large = LARGE[Math.floor(random() * LARGE.length)]
  return random() < AT_LARGE_PROVIDERS
    ? `${name}@${large}`
    : `${name}@firm${Math.floor(random() * SMALL_DOMAINS)}.example`
}

function honestAddress(random: Random, { vpnShare }: Shop): string {
  const octet = () => Math.floor(between(random, 1, 250))
  const vpn = VPN_NETWORKS[Math.floor(random() * VPN_NETWORKS.length)]
  return random() < vpnShare ? `${vpn}.${Math.ceil(random() * 10)}` : `81.${octet()}.${octet()}.${octet()}`
}

/** Signs users up from `from` to `until`. They solve challenges. */
function playShop(simulation: Simulation, random: Random, shop: Shop, from: number, until: number): Honest {
  const counted: Honest = { calls: 0, refused: 0, challenged: 0, reasons: new Map() }
  const count = ({ result, asked }: Call): boolean => {
    counted.calls += 1
    if (asked) counted.challenged += 1
    if (result === 'sent') return true
    counted.refused += 1
    counted.reasons.set(result, (counted.reasons.get(result) ?? 0) + 1)
    return false
  }
  const gap = (): number => Math.ceil((-Math.log(1 - random()) * HOUR_MS) / shop.signUpsPerHour)
  for (let at = from; at < until; at += gap()) {
    const caller = { recipient: honestRecipient(random, shop), address: honestAddress(random, shop), solves: true }
    const [verifies, resends] = [random() < shop.verifiedShare, random() < shop.resendShare]
    const typing = Math.round(between(random, 10, 90) * SECOND_MS)
    simulation.at(at, async () => {
      const first = await simulation.send(caller)
      if (!count(first)) return
      if (resends)
        simulation.at(at + 40 * SECOND_MS, async () => void count(await simulation.resend(caller, first.otp_id)))
      if (verifies) simulation.at(at + (resends ? 40 * SECOND_MS : 0) + typing, () => simulation.verify(first.otp_id))
    })
  }
  return counted
}

/** What the guard would remember of two weeks: it keeps days. */
async function rememberShop(simulation: Simulation, shop: Shop): Promise<void> {
  const sent = shop.signUpsPerHour * 24 * (1 + shop.resendShare)
  const verified = shop.signUpsPerHour * 24 * shop.verifiedShare
  const days = (share: number) =>
    Array.from({ length: HISTORY_DAYS }, (_, nth) => ({
      at: simulation.clock.now() - (nth + 1) * DAY_MS,
      sent: Math.round(sent * share),
      verified: Math.round(verified * share),
    }))
  if (shop.byEmail) {
    await simulation.remember(ALL_ADDRESSES, days(1))
    await simulation.remember(LARGE_PROVIDERS, days(AT_LARGE_PROVIDERS))
    await simulation.remember(OTHER_MAIL_DOMAINS, days(1 - AT_LARGE_PROVIDERS))
    return
  }
  for (const name of [ALL_NUMBERS, 'GB']) await simulation.remember(name, days(1))
  for (const range of SHOP_RANGES) await simulation.remember(range, days(1 / SHOP_RANGES.length))
}

// Attackers.

interface Attack {
  name: string
  /** As the issue measured it. */
  before: string
  numbers: string[]
  minutes: number
  /** The share of the numbers that is verified once, and after how many messages. */
  verifiedShare?: number
  verifiedAfter?: number
  messagesPerStart?: number
  settings?: object
}

/** Valid mobile numbers, `perRange` in each range of a million. */
function numbersIn(prefix: string, digits: number, count: number, perRange: number): string[] {
  const found: string[] = []
  for (let range = 0; found.length < count && range < 10_000; range += 1) {
    const rangeDigits = Math.max(0, digits - 6)
    const first = `${prefix}${rangeDigits === 0 ? '' : String((range * 7) % 10 ** rangeDigits).padStart(rangeDigits, '0')}`
    for (let nth = 0; nth < perRange && found.length < count; nth += 1) {
      // Far apart, so that no block of ten thousand has many.
      const number = `${first}${String((nth * 37_123 + range * 911) % 1_000_000).padStart(6, '0')}`
      if (parseRecipient(number) !== null && !found.includes(number)) found.push(number)
    }
    if (rangeDigits === 0) break
  }
  return found
}

const COUNTRIES: [prefix: string, digits: number][] = [
  ['+9232', 8],
  ['+88017', 8],
  ['+23480', 8],
  ['+62812', 8],
  ['+9477', 7],
  ['+21266', 7],
  ['+998901', 6],
  ['+79161', 6],
]
const ranged = numbersIn('+923211', 6, 400, 400)
const ATTACKS: Attack[] = [
  {
    name: '8 countries × 99 numbers, at most 29 per range',
    before: '32 961',
    numbers: interleave(COUNTRIES.map(([prefix, digits]) => numbersIn(prefix, digits, 99, 29))),
    minutes: 60,
  },
  { name: '1 country, 99 numbers', before: '4 950', numbers: numbersIn('+9232', 8, 99, 29), minutes: 60 },
  {
    name: 'one range, 400 numbers, 36 % verified once',
    before: '12 349',
    numbers: ranged,
    minutes: 25,
    verifiedShare: 0.36,
    verifiedAfter: 3,
  },
  {
    name: 'the same, verified at the first message',
    before: '',
    numbers: ranged,
    minutes: 25,
    verifiedShare: 0.36,
    verifiedAfter: 1,
  },
  { name: 'the same, none verified', before: '5 081', numbers: ranged, minutes: 25 },
  {
    name: 'WhatsApp, 90 sequential numbers',
    before: '90',
    numbers: Array.from({ length: 90 }, (_, nth) => `+92321123${String(4_000 + nth)}`),
    minutes: 60,
    messagesPerStart: 1,
    settings: { routing: { default: ['whatsapp', 'sms'] } },
  },
]

function interleave(lists: readonly string[][]): string[] {
  const longest = Math.max(...lists.map(({ length }) => length))
  return Array.from({ length: longest }, (_, nth) => lists.flatMap(list => list[nth] ?? [])).flat()
}

interface Attacked {
  messages: number
  refusedByGuard: number
  challenged: number
}

/** Starts a verification every two seconds, number by number, with two resends each, from addresses of one IPv6 prefix. */
function playAttack(simulation: Simulation, attack: Attack, solves: boolean): Attacked {
  const { numbers, minutes, verifiedShare = 0, verifiedAfter = 3, messagesPerStart = 3 } = attack
  const counted: Attacked = { messages: 0, refusedByGuard: 0, challenged: 0 }
  const verified = new Set<string>()
  const count = ({ result, asked }: Call): boolean => {
    if (result === 'sent') counted.messages += 1
    if (result === 'refused: fraud_guard') counted.refusedByGuard += 1
    if (asked) counted.challenged += 1
    return result === 'sent'
  }
  const from = simulation.clock.now()
  for (let nth = 0; nth < minutes * 30; nth += 1) {
    const at = from + nth * 2 * SECOND_MS
    const number = numbers[nth % numbers.length] ?? ''
    const isOwn = nth % numbers.length < numbers.length * verifiedShare
    const address = `2a0e:97c0:${(nth % 250).toString(16)}:${nth.toString(16)}::1`
    const caller = { recipient: number, address, solves }
    const verifyOnce = (otp_id: string): void => {
      if (!isOwn || verified.has(number)) return
      verified.add(number)
      simulation.at(simulation.clock.now() + 5 * SECOND_MS, () => simulation.verify(otp_id))
    }
    simulation.at(at, async () => {
      const first = await simulation.send(caller)
      if (!count(first)) return
      if (isOwn && verifiedAfter === 1 && !verified.has(number)) return verifyOnce(first.otp_id)
      for (let resend = 1; resend < messagesPerStart; resend += 1)
        simulation.at(at + (resend === 1 ? 31 : 95) * SECOND_MS, async () => {
          if (count(await simulation.resend(caller, first.otp_id)) && resend === 2) verifyOnce(first.otp_id)
        })
    })
  }
  return counted
}

interface Played {
  attacked: Attacked
  honest: Honest | null
}

async function attack(one: Attack, options: { solves: boolean; isShop: boolean; processes: number }): Promise<Played> {
  const simulation = await startSimulation({ processes: options.processes, settings: one.settings ?? {} })
  const random = createRandom(SEED)
  const start = simulation.clock.now()
  let honest: Honest | null = null
  if (options.isShop) {
    await rememberShop(simulation, SHOP)
    playShop(simulation, random, SHOP, start, start + HOUR_MS)
    await simulation.play(start + HOUR_MS)
    honest = playShop(simulation, random, SHOP, start + HOUR_MS, start + 2 * HOUR_MS)
  }
  const attacked = playAttack(simulation, one, options.solves)
  await simulation.play(simulation.clock.now() + HOUR_MS)
  await simulation.close()
  return { attacked, honest }
}

// Mails, which cost the attacker nothing: how many honest sign-ups are refused while they come.

interface MailFlood {
  name: string
  to(nth: number): string
  from(nth: number): string
}

const ONE_ADDRESS = (): string => '203.0.113.9'
const ONE_NETWORK = (nth: number): string => `2a0e:97c0:1:${(nth % 65_536).toString(16)}::1`
const MANY_ADDRESSES = (nth: number): string => `2a0e:97c0:${(nth % 250).toString(16)}:${nth.toString(16)}::1`
const OWN_DOMAIN = (nth: number): string => `box${nth}@catch-all.example`
const AT_GMAIL = (nth: number): string => `victim${nth}@gmail.com`
const MAIL_FLOODS: MailFlood[] = [
  { name: 'one address, mailboxes at Gmail', to: AT_GMAIL, from: ONE_ADDRESS },
  { name: 'a /48, mailboxes at Gmail', to: AT_GMAIL, from: ONE_NETWORK },
  { name: 'many addresses, mailboxes of one domain', to: OWN_DOMAIN, from: MANY_ADDRESSES },
  { name: 'many addresses, a new domain each', to: nth => `a@d${nth}.example`, from: MANY_ADDRESSES },
  { name: 'many addresses, mailboxes at Gmail', to: AT_GMAIL, from: MANY_ADDRESSES },
]
const MAILS_PER_MINUTE = 90
/** Long enough for every count that the guard keeps of ten minutes to be full. */
const FLOOD_MINUTES = Number(process.env.BENCH_FLOOD_MINUTES ?? 10)

/** Beside a shop whose users sign up by email. */
async function flood({ to, from }: MailFlood, { guard, solves }: { guard: 'on' | 'off'; solves: boolean }) {
  const simulation = await startSimulation({
    processes: MANY_PROCESSES,
    settings: { routing: { default: ['email'] }, fraud_guard: { mode: guard } },
  })
  const random = createRandom(SEED)
  await rememberShop(simulation, EMAIL_SHOP)
  const [start, length] = [simulation.clock.now(), FLOOD_MINUTES * MINUTE_MS]
  playShop(simulation, random, EMAIL_SHOP, start, start + length)
  await simulation.play(start + length)
  const honest = playShop(simulation, random, EMAIL_SHOP, start + length, start + 2 * length)
  let mails = 0
  for (let nth = 0; nth < FLOOD_MINUTES * MAILS_PER_MINUTE; nth += 1)
    simulation.at(start + length + Math.floor((nth * MINUTE_MS) / MAILS_PER_MINUTE), async () => {
      const { result } = await simulation.send({ recipient: to(nth), address: from(nth), solves })
      if (result === 'sent') mails += 1
    })
  await simulation.play(start + 2 * length)
  await simulation.close()
  return { mailsPerMinute: (mails / FLOOD_MINUTES).toFixed(1), honest }
}

async function printMailFloods(): Promise<void> {
  console.log(
    `\n${MAILS_PER_MINUTE} mails a minute by a stranger for ${FLOOD_MINUTES} minutes, beside a shop by email: mails sent a minute, and of honest calls refused`,
  )
  for (const one of MAIL_FLOODS)
    for (const [name, options] of [
      ['guard off', { guard: 'off', solves: true }],
      ['solves none', { guard: 'on', solves: false }],
      ['solves', { guard: 'on', solves: true }],
    ] as const) {
      const { mailsPerMinute, honest } = await flood(one, options)
      const why = [...honest.reasons].map(([reason, count]) => `${count} ${reason}`).join(', ')
      const refused = `honest ${percent(honest.refused, honest.calls)} of ${honest.calls}${why === '' ? '' : ` (${why})`}`
      console.log(`  ${one.name.padEnd(44)} ${name.padEnd(12)} ${mailsPerMinute.padStart(5)}   ${refused}`)
    }
}

const percent = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(2)} %`
const verdict = (holds: boolean): string => (holds ? 'met' : 'MISSED')

async function printAttacks(title: string, options: { isShop: boolean; processes: number }): Promise<void> {
  console.log(
    `\n${title}: messages in an hour (refused by the guard), and of honest calls refused; aim ≤ ${MAX_ATTACK_MESSAGES}`,
  )
  for (const one of ATTACKS) {
    const cells: string[] = []
    for (const solves of [false, true]) {
      const { attacked, honest } = await attack(one, { ...options, solves })
      const others = honest ? `, honest ${percent(honest.refused, honest.calls)}` : ''
      const aim = verdict(attacked.messages <= MAX_ATTACK_MESSAGES)
      cells.push(
        `${solves ? 'solves' : 'solves none'} ${attacked.messages} (${attacked.refusedByGuard}${others}) ${aim}`,
      )
    }
    console.log(`  ${one.name.padEnd(48)} before ${one.before.padStart(6)}   ${cells.join('   ')}`)
  }
}

async function printHonest(
  name: string,
  {
    shop,
    hasHistory,
    processes,
    hours,
    aims,
  }: {
    shop: Shop
    hasHistory: boolean
    processes: number
    hours: number
    aims: { refused: number; challenged?: number }
  },
): Promise<void> {
  const simulation = await startSimulation({ processes })
  const random = createRandom(SEED)
  let from = simulation.clock.now()
  if (hasHistory) {
    await rememberShop(simulation, SHOP)
    playShop(simulation, random, SHOP, from, from + HOUR_MS)
    from += HOUR_MS
    await simulation.play(from)
  }
  const honest = playShop(simulation, random, shop, from, from + hours * HOUR_MS)
  await simulation.play(from + hours * HOUR_MS + 5 * MINUTE_MS)
  await simulation.close()
  const { calls, refused, challenged, reasons } = honest
  const met = refused < aims.refused * calls && (aims.challenged === undefined || challenged < aims.challenged * calls)
  const why = [...reasons].map(([reason, count]) => `${count} ${reason}`).join(', ')
  console.log(
    `  ${name.padEnd(48)} ${calls} calls, refused ${percent(refused, calls)}, challenged ${percent(challenged, calls)} ${verdict(met)} ${why}`,
  )
}

/** Each takes some minutes. */
const PARTS: Record<string, () => Promise<void>> = {
  new: () => printAttacks('An app without history', { isShop: false, processes: MANY_PROCESSES }),
  shop: () => printAttacks('A shop with two weeks of history', { isShop: true, processes: MANY_PROCESSES }),
  honest: printAllHonest,
  mails: printMailFloods,
}

async function printAllHonest(): Promise<void> {
  const processes = MANY_PROCESSES
  console.log('\nHonest users, who solve challenges')
  await printHonest('a shop with two weeks of history', {
    shop: SHOP,
    hasHistory: true,
    processes,
    hours: 3,
    aims: { refused: 0.005, challenged: 0.03 },
  })
  await printHonest('the same in a tenfold rush', {
    shop: { ...SHOP, signUpsPerHour: 2_000 },
    hasHistory: true,
    processes,
    hours: 1,
    aims: { refused: 0.01 },
  })
  await printHonest('a new app', { shop: SHOP, hasHistory: false, processes, hours: 3, aims: { refused: 0.01 } })
  await printHonest('a new app by email', {
    shop: EMAIL_SHOP,
    hasHistory: false,
    processes,
    hours: 3,
    aims: { refused: 0.01 },
  })
}

export default async function fraud(): Promise<void> {
  for (const part of (process.env.BENCH_PARTS ?? Object.keys(PARTS).join()).split(',')) await PARTS[part]?.()
}
