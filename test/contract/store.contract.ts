// One contract, every store adapter: what is true here is true of each of them. Sub-suites are in store/, by method.
import { changing } from './store/change.ts'
import { CONTRACT_COLLECTIONS, type ContractStore, type Ground, type StoreUnderTest } from './store/collections.ts'
import { finding } from './store/find.ts'
import { getting } from './store/get.ts'
import { inserting } from './store/insert.ts'
import { living } from './store/life.ts'
import { modifying } from './store/modify.ts'
import { operating } from './store/operators.ts'
import { computing } from './store/pipeline.ts'
import { removing } from './store/remove.ts'
import { unindexed } from './store/unindexed.ts'

export { CONTRACT_COLLECTIONS, type ContractStore, type StoreUnderTest }

export function storeContract(title: string, open: () => Promise<StoreUnderTest>): void {
  describe(title, () => {
    let shared: StoreUnderTest
    let names = 0
    const ground: Ground = {
      open,
      things: () => shared.store.docs('things'),
      coded: () => shared.store.docs('coded'),
      counters: () => shared.store.docs('counters'),
      fresh: () => `g${++names}`,
    }
    before(async () => {
      shared = await open()
    })
    after(() => shared?.close())

    describe('get', () => getting(ground))
    describe('insert', () => inserting(ground))
    describe('find and count', () => finding(ground))
    describe('change', () => changing(ground))
    describe('modify', () => modifying(ground))
    describe('operators', () => operating(ground))
    describe('computed updates', () => computing(ground))
    describe('remove', () => removing(ground))
    describe('a filter no index serves', () => unindexed(ground))
    describe('life of a store', () => living(ground))
  })
}
