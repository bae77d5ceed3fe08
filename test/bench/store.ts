// Measures a store alone: writes one by one and together, lookups in a small and in a large collection.
import process from 'node:process'
import type { Docs } from '../../infra/store/docs.ts'
import type { StoreBench } from './engine-sets.ts'
import { medians, perSecond } from './measure.ts'
import { print } from './report.ts'
import { APP, type BENCH_COLLECTIONS, idOf, recipientOf, type Sample, sample } from './samples.ts'

const WRITES_IN_FLIGHT = 256
const GROUP = 64
const READERS = 16
const FEW = 1_000
const MANY = Number(process.env.BENCH_DOCUMENTS ?? 1_000_000)

export async function measureStore({ store, groupsCalls }: StoreBench<typeof BENCH_COLLECTIONS>): Promise<void> {
  await compareWrites('inserts, documents', groupsCalls, inserts(store.docs('inserted')))
  await compareWrites('conditional changes, documents', groupsCalls, await changes(store.docs('changed')))
  await lookups(store.docs('few'), store.docs('many'))
}

/** Writes `size` documents; answers how many were written. */
type Write = (size: number) => (lane: number) => Promise<number>

/** The same number of documents is under way in both: many calls of one document, or a few calls of many. Where the store itself groups
 *  calls, only calls one after the other show what a single commit costs. */
async function compareWrites(what: string, groupsCalls: boolean, write: Write): Promise<void> {
  const figures = await medians({
    alone: perSecond(1, write(1)),
    single: perSecond(WRITES_IN_FLIGHT, write(1)),
    grouped: perSecond(WRITES_IN_FLIGHT / GROUP, write(GROUP)),
  })
  const alone = { name: 'one after the other', value: figures.alone }
  const single = { name: `${WRITES_IN_FLIGHT} under way, one per call`, value: figures.single }
  const grouped = { name: `${WRITES_IN_FLIGHT} under way, ${GROUP} per call`, value: figures.grouped }
  print({
    what,
    unit: 'per second',
    ...(groupsCalls
      ? { baseline: alone, variants: [single, grouped] }
      : { baseline: single, variants: [alone, grouped] }),
    aim: { says: '≥ 2 ×', holds: (_, ratio) => ratio >= 2 },
  })
}

function inserts(docs: Docs<Sample>): Write {
  let next = 0
  return size => async () => {
    const answers = await docs.insert(Array.from({ length: size }, () => sample(next++)))
    return answers.filter(answer => answer === 'inserted').length
  }
}

/** Every lane changes its own documents, so no change is lost. */
async function changes(docs: Docs<Sample>): Promise<Write> {
  const revs = new Array<number>(WRITES_IN_FLIGHT).fill(0)
  await fill(docs, WRITES_IN_FLIGHT)
  return size => async lane => {
    const mine = revs.slice(lane * size, (lane + 1) * size)
    const answers = await docs.change(
      mine.map((rev, at) => ({
        _id: idOf(lane * size + at),
        rev,
        update: { $set: { value: 'pending' }, $push: { last_commands: { $each: [`c${rev}`], $slice: -5 } } },
      })),
    )
    for (const [at, rev] of mine.entries()) revs[lane * size + at] = rev + 1
    const won = answers.filter(answer => answer === 'won').length
    if (won < size) throw new Error('a change was lost though no other lane changes the document')
    return won
  }
}

async function lookups(few: Docs<Sample>, many: Docs<Sample>): Promise<void> {
  await fill(few, FEW)
  const began = performance.now()
  await fill(many, MANY)
  console.log(
    `  (${MANY.toLocaleString('en')} documents laid down in ${Math.round((performance.now() - began) / 1000)} s)`,
  )
  await lookup('lookups by _id', few, many, async (docs, number) => (await docs.get([idOf(number)])).size)
  await lookup('lookups by an index', few, many, async (docs, number) => {
    const filter = { app_id: APP, recipient: recipientOf(number) }
    return (await docs.find(filter, { sort: { created_at: -1 }, limit: 1 })).length
  })
}

/** Lookups of the same few documents among many show what a larger index costs; lookups of any document, what cache misses add. */
async function lookup(
  what: string,
  few: Docs<Sample>,
  many: Docs<Sample>,
  look: (docs: Docs<Sample>, number: number) => Promise<number>,
): Promise<void> {
  const among = (docs: Docs<Sample>, count: number) =>
    perSecond(READERS, () => look(docs, Math.floor(Math.random() * count)))
  const figures = await medians({ few: among(few, FEW), same: among(many, FEW), any: among(many, MANY) })
  const [of, all] = [FEW.toLocaleString('en'), MANY.toLocaleString('en')]
  print({
    what,
    unit: 'per second',
    baseline: { name: `of ${of}`, value: figures.few },
    variants: [
      { name: `of ${all}, always the same ${of}`, value: figures.same },
      { name: `of ${all}, any`, value: figures.any },
    ],
    aim: { says: '≈ 1 × (≥ 0.7)', holds: (_, ratio) => ratio >= 0.7 },
  })
}

async function fill(docs: Docs<Sample>, count: number): Promise<void> {
  const batch = 5_000
  for (let first = 0; first < count; first += batch)
    await docs.insert(Array.from({ length: Math.min(batch, count - first) }, (_, at) => sample(first + at)))
}
