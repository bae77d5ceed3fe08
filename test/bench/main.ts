// `npm run bench -- <name>` measures and prints. A bench never fails; requirements are in the tests.
import process from 'node:process'

const BENCHES: Record<string, { about: string; run(): Promise<void> }> = {
  send: {
    about: 'sends per second over HTTP, one process per role on RabbitMQ and MongoDB, against a bare pipeline',
    run: async () => (await import('./send.ts')).default(),
  },
  cost: {
    about:
      'processor time of a send (by role, embedded, live) and of a verify, by process and engine, and what MongoDB is asked, against the floor; `cost -- --against <checkout>`: the ratio to another checkout',
    async run() {
      const { default: pairedCost, parseOpponent } = await import('./paired-cost.ts')
      const opponent = parseOpponent(process.argv)
      if (opponent) await pairedCost(opponent)
      else await (await import('./cost.ts')).default()
    },
  },
  verify: {
    about: 'verifications per second of right codes, against the same',
    run: async () => (await import('./verify.ts')).default(),
  },
  webhook: {
    about: 'events per second to a backend, against bare signed POSTs; the delay of others while one endpoint hangs',
    run: async () => (await import('./webhook.ts')).default(),
  },
  scale: {
    about:
      'one, two and four processes of a channel and of the OTP role, each bounded so that the machine is not the limit (BENCH_PARTS: channel,otp)',
    run: async () => (await import('./scale.ts')).default(),
  },
  overload: {
    about:
      'callers that repeat refused sends at once, and 5 times the sends the system can take (BENCH_ENGINES: embedded,real; BENCH_CALLERS; BENCH_OFFERED: the multiples; times in ms: BENCH_PEAK_MS, BENCH_STORM_MS, BENCH_OFFER_MS)',
    run: async () => (await import('./overload.ts')).default(),
  },
  'admin-flood': {
    about:
      'sends beside a company that does its worst at the admin API, in a heap of 256 MB (BENCH_FLOOD_MS: how long, 300000 for five minutes; BENCH_CALLERS; BENCH_SENDS_PER_SECOND); `-- --against <checkout>`: the process of another checkout',
    run: async () => (await import('./admin-flood.ts')).default(),
  },
  fraud: {
    about:
      'attackers and honest users against the fraud guard, in virtual time: messages sent, calls refused and challenged (BENCH_SEED; BENCH_PARTS: new,shop,honest)',
    run: async () => (await import('./fraud.ts')).default(),
  },
  routes: {
    about:
      'learned routes against the listed order and an oracle, in virtual time: approvals lost, silent providers noticed, false alarms (BENCH_SEED; BENCH_RUNS; BENCH_PARTS: learning,situations,silence,alarms)',
    run: async () => (await import('./routes.ts')).default(),
  },
  size: {
    about:
      'what a verification costs and leaves, by role and engine: processor time, memory, connections, storage, messages (BENCH_SENDS: how many; BENCH_FIGURES: a file to write)',
    run: async () => (await import('./size.ts')).default(),
  },
  try: {
    about: 'trying settings on the sends of a past week, and whether unchanged ones differ (BENCH_SENDS: how many)',
    run: async () => (await import('./try.ts')).default(),
  },
}

const name = process.argv[2] ?? ''
const bench = Object.hasOwn(BENCHES, name) ? BENCHES[name] : undefined
if (bench) await bench.run()
else {
  console.log('Say which: npm run bench -- <name>\n')
  for (const [known, { about }] of Object.entries(BENCHES)) console.log(`  ${known.padEnd(12)} ${about}`)
  process.exitCode = name ? 1 : 0
}
