// The contract of the store port, which runs on every adapter. The cases are in store/, by method.
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
    const fixture: StoreFixture = {
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

    describe('get', () => getCases(fixture))
    describe('insert', () => insertCases(fixture))
    describe('find and count', () => findCases(fixture))
    describe('change', () => changeCases(fixture))
    describe('update', () => updateCases(fixture))
    describe('modify', () => modifyCases(fixture))
    describe('operators', () => operatorCases(fixture))
    describe('computed updates', () => pipelineCases(fixture))
    describe('remove', () => removeCases(fixture))
    describe('a filter that no index serves', () => unindexedCases(fixture))
    describe('opening and closing', () => lifecycleCases(fixture))
  })
}
