// One contract, every store adapter: what is true here is true of each of them. Sub-suites are in store/, by method.
import { changeCases } from './store/change.ts'
import {
  CONTRACT_COLLECTIONS,
  type ContractStore,
  type StoreFixture,
  type StoreUnderTest,
} from './store/collections.ts'
import { findCases } from './store/find.ts'
import { getCases } from './store/get.ts'
import { insertCases } from './store/insert.ts'
import { lifecycleCases } from './store/lifecycle.ts'
import { modifyCases } from './store/modify.ts'
import { operatorCases } from './store/operators.ts'
import { pipelineCases } from './store/pipeline.ts'
import { removeCases } from './store/remove.ts'
import { unindexedCases } from './store/unindexed.ts'
import { updateCases } from './store/update.ts'

export { CONTRACT_COLLECTIONS, type ContractStore, type StoreUnderTest }

export function storeContract(title: string, open: () => Promise<StoreUnderTest>): void {
  describe(title, () => {
    let shared: StoreUnderTest
    let names = 0
    const ground: StoreFixture = {
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

    describe('get', () => getCases(ground))
    describe('insert', () => insertCases(ground))
    describe('find and count', () => findCases(ground))
    describe('change', () => changeCases(ground))
    describe('update', () => updateCases(ground))
    describe('modify', () => modifyCases(ground))
    describe('operators', () => operatorCases(ground))
    describe('computed updates', () => pipelineCases(ground))
    describe('remove', () => removeCases(ground))
    describe('a filter no index serves', () => unindexedCases(ground))
    describe('life of a store', () => lifecycleCases(ground))
  })
}
