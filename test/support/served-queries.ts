// Queries of the contract's collections that an index serves, whole: they find by it, and need no sort.
import type { Doc, Filter, Sort } from '../../infra/store/docs.ts'

const GROUP = 'things {group 1}'
const RANK = 'things {group 1, rank 1}'
const CITY = 'things {group 1, owner.city 1, rank -1}'
const ID = 'sqlite_autoindex_things_1'

type Served = readonly [collection: string, filter: Filter<Doc>, sort: Sort<Doc>, sqliteIndex: string]
export const SERVED_QUERIES = [
  ['things', { _id: 'x' }, {}, ID],
  ['things', { _id: { $in: ['x', 'y'] } }, {}, ID],
  ['things', { _id: { $gt: 'x' } }, { _id: -1 }, ID],
  ['things', { group: 'x' }, {}, GROUP],
  ['things', { group: 'x' }, { _id: -1 }, GROUP],
  ['things', { group: { $gt: 'x' } }, { group: 1 }, GROUP],
  ['things', { group: 'x' }, { rank: 1 }, RANK],
  ['things', { group: 'x' }, { rank: -1 }, RANK],
  ['things', { group: 'x', rank: null }, { rank: 1 }, RANK],
  ['things', { group: 'x', rank: true }, {}, RANK],
  ['things', { group: 'x', rank: { $gt: 5 } }, { rank: -1 }, RANK],
  ['things', { group: 'x', rank: { $gte: 'a', $lt: 'b' } }, { rank: 1 }, RANK],
  ['things', { group: 'x', n: 1 }, { rank: 1 }, RANK],
  ['things', { group: 'x' }, { 'owner.city': 1, rank: -1 }, CITY],
  ['things', { group: 'x' }, { 'owner.city': -1, rank: 1 }, CITY],
  ['things', { group: 'x', 'owner.city': 'y' }, { rank: 1 }, CITY],
  ['things', { due_at: { $lte: 5 } }, { due_at: 1 }, 'things {due_at 1}'],
  ['things', { group: 'x', email: 'y' }, { email: 1 }, 'things {group 1, email 1}'],
  ['things', { group: 'x', active: true }, { slot: 1 }, 'things {group 1, slot 1}'],
  ['coded', { code: 'x' }, {}, 'coded {code 1}'],
  ['coded', { code: null }, { code: 1 }, 'coded {code 1}'],
  ['counters', { group: 'x' }, { group: 1 }, 'counters {group 1}'],
] as readonly Served[]
