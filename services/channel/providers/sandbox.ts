// The provider with nobody behind it. In: a message. Out: a reference to it in the inbox, and receipts as a vendor would send them.
//
// Receipts survive a crash because the broker keeps the message until they are out: soon ones are waited for with the message in
// hand, later ones by giving it back for the while. So a process that dies in between is followed by another delivery, which finds
// the delivery sent and plays the receipts again, under the same ids. A long wait in hand would take the prefetch from
// everyone else on the channel, and a test key must never slow down live messages.

import { createBatcher } from '../../../infra/batcher.ts'
import { done, retry } from '../../../infra/broker/broker.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import type { SandboxMessageDoc } from '../../domain/verifications/documents.ts'
import { atRest, sandboxIndex } from '../../domain/verifications/encryption-context.ts'
import type { DeliveryJob, Provider, RenderedMessage } from '../provider.ts'
import type { PublishReport } from '../report-publisher.ts'
import { type Script, scriptFor } from './sandbox.scripts.ts'

export interface SandboxDeps {
  messages: Pick<Docs<SandboxMessageDoc>, 'insert'>
  keyring: Pick<Keyring, 'index' | 'unseal'>
  clock: Clock
  publishReport: PublishReport
}

/** The longest wait with the message in hand. */
const MAX_WAIT_IN_PROCESS_MS = 1_000
const INSERT_BATCHING = { maxSize: 500, parallel: 2 }

export function createSandboxProvider({ messages, keyring, clock, publishReport }: SandboxDeps): Provider {
  const insertMessages = createBatcher<SandboxMessageDoc, unknown>(docs => messages.insert(docs), INSERT_BATCHING)

  /** Null when the recipient's key is gone: nobody knows how the play goes on, and nobody waits for its end. */
  function scriptOf({ otp, delivery }: DeliveryJob): Script | null {
    const recipient = unsealOrNull(keyring, otp.recipient.sealed, atRest.recipient(otp.otp_id))
    return recipient === null ? null : scriptFor(recipient, otp, delivery)
  }

  return {
    // The inbox holds one message per delivery: a second one is the first.
    repeatable: true,

    async send({ job, recipient, locale }) {
      await insertMessages([newMessageDocument(job, sandboxIndex(keyring, recipient), locale)])
      const { early } = scriptFor(recipient, job.otp, job.delivery)
      if (early !== null) await publishReport(job, early, 'receipt:early')
      return { reference: null }
    },

    async simulateReceipts(job, sentAt) {
      for (const [nth, { afterMs, status }] of (scriptOf(job)?.receipts ?? []).entries()) {
        const waitMs = sentAt + afterMs - clock.now()
        if (waitMs > MAX_WAIT_IN_PROCESS_MS) return retry(waitMs)
        if (waitMs > 0) await new Promise<void>(resolve => clock.after(waitMs, resolve))
        await publishReport(job, status, `receipt:${nth + 1}`)
      }
      return done()
    },
  }

  function newMessageDocument(
    { otp, delivery, purge_at }: DeliveryJob,
    recipient: string,
    locale: RenderedMessage['locale'],
  ): SandboxMessageDoc {
    const { otp_id, app_id, company_id } = otp
    const { delivery_id, generation } = delivery
    return {
      _id: delivery_id,
      app_id,
      company_id,
      otp_id,
      generation,
      locale,
      recipient,
      purge_at,
      at: clock.now(),
    }
  }
}
