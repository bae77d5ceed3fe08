// The search for the latest verification of a recipient reads one document, however many others started for the same recipient.
import { expect } from 'chai'
import { newId } from '../../../../infra/ids.ts'
import type { Docs } from '../../../../infra/store/docs.ts'
import type { Caller } from '../../../../machines/otp.ts'
import type { OtpDoc } from '../../../../services/domain/verifications/documents.ts'
import { latestOfRecipient } from '../../../../services/domain/verifications/latest-of-recipient.ts'
import { device, issued, server, T0 } from '../../../support/otp.ts'
import { documentOf } from '../../../support/queued-otps.ts'
import { onEmbeddedStore } from '../../../support/stores.ts'

const INDEX = 'index of the recipient'
const started = (at: number, started_by: Caller): OtpDoc => ({
  ...documentOf(issued({ at, otp_id: newId('otp', at), started_by }), at),
  recipient: INDEX,
})

onEmbeddedStore('the latest verification of a recipient', fresh => {
  async function search(docs: OtpDoc[]): Promise<{ found: string | undefined; read: number }> {
    const otps = (await fresh()).docs('otps')
    await otps.insert(docs)
    let read = 0
    const find: Docs<OtpDoc>['find'] = async (filter, page) => {
      const found = await otps.find(filter, page)
      expect(Object.keys(filter), 'what the index has').to.have.members(['recipient', '_id', 'context.started_by.kind'])
      read += found.length
      return found
    }
    const by = { app_id: 'app_1', mode: 'live', kind: 'server' } as const
    const latest = await latestOfRecipient({ otps: { find }, keyring: { indexes: () => [INDEX] } }, by, '+44', T0)
    return { found: latest?._id, read }
  }

  it('is the newest of the same kind of key, and none that started before, which is not read either', async () => {
    const [old, last, other] = [started(T0 + 1, server), started(T0 + 2, server), started(T0 + 3, device)]
    expect((await search([old, last, other])).found).to.equal(last._id)
    expect(await search([started(T0 - 1, server)])).to.deep.equal({ found: undefined, read: 0 })
    const first = started(T0, server)
    expect(await search([first])).to.deep.equal({ found: first._id, read: 1 })
  })

  it('is found behind any number of the other kind, of which none is read', async () => {
    const flood = Array.from({ length: 200 }, (_, nth) => started(T0 + 10 + nth, device))
    const pending = started(T0, server)
    expect(await search([pending, ...flood])).to.deep.equal({ found: pending._id, read: 1 })
  })
})
