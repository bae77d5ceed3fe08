// The sandbox: a provider without a vendor, for test keys. In: a message. Out: an entry in the sandbox inbox, and
// receipts as a vendor would send them.
//
// Receipts survive a crash because the broker keeps the message until they are published. The process waits itself for receipts that are
// due within a second, and returns the message to the broker for later ones: a long wait would take up the channel's prefetch, and a test
// key must never slow down live messages. After a crash the broker delivers the message again; the delivery is no longer queued then, and
// its receipts are published again under the same ids.
import { createBatcher } from '../../../infra/batcher.ts'
import { done, retry } from '../../../infra/broker/broker.ts'
import type { Clock } from '../../../infra/clock.ts'
import type { Keyring } from '../../../infra/crypto/keyring.ts'
import { unsealOrNull } from '../../../infra/crypto/unseal-or-null.ts'
import type { Docs } from '../../../infra/store/docs.ts'
import { sleep } from '../../../infra/timeout.ts'
import { isMessage } from '../../../machines/otp.queries.ts'
import type { ReportedStatus } from '../../../machines/otp.ts'
import type { SandboxMessageDoc } from '../../domain/verifications/documents.ts'
import { atRest, inboxCodeContext } from '../../domain/verifications/encryption-context.ts'
import { sandboxIndex } from '../../domain/verifications/lookup-indexes.ts'
import type { DeliveryJob, DeliveryMessage, Provider } from '../provider.ts'
import type { PublishReport } from '../report-publisher.ts'
import { receiptDetails, type Script, scriptFor } from './sandbox.scripts.ts'

export interface SandboxDeps {
  messages: Pick<Docs<SandboxMessageDoc>, 'insert'>
  keyring: Pick<Keyring, 'index' | 'seal' | 'unseal'>
  clock: Clock
  publishReport: PublishReport
}

/** The longest wait before the message is returned to the broker. */
const MAX_WAIT_IN_PROCESS_MS = 1_000
const INSERT_BATCHING = { maxSize: 500, parallel: 2 }

export function createSandboxProvider({ messages, keyring, clock, publishReport }: SandboxDeps): Provider {
  const insertMessages = createBatcher<SandboxMessageDoc, unknown>(docs => messages.insert(docs), INSERT_BATCHING)

  /** The scripts of jobs that were sent by this process, so that their recipients need not be unsealed again. */
  const scripts = new WeakMap<DeliveryJob, Script>()

  /** Null when the recipient cannot be unsealed, because its data key is gone: then the script is unknown too. */
  function scriptOf(job: DeliveryJob): Script | null {
    const known = scripts.get(job)
    if (known) return known
    const { otp, delivery } = job
    const recipient = unsealOrNull(keyring, otp.recipient.sealed, atRest.recipient(otp.otp_id))
    return recipient === null ? null : scriptFor(recipient, otp, delivery)
  }

  const report = (job: DeliveryJob, status: ReportedStatus, source: string): Promise<void> =>
    publishReport(job, status, receiptDetails(status, job.delivery), source)

  const provider: Provider = {
    // The inbox holds one entry per delivery, so a repeated send adds nothing.
    repeatable: true,

    async send({ job, recipient, locale, code }: DeliveryMessage) {
      const doc = newMessageDocument(job, sandboxIndex(keyring, recipient), locale)
      // The message itself loses its code when it ends, a moment later.
      if (isMessage(job.otp)) doc.sealed_code = keyring.seal(code, inboxCodeContext(doc._id))
      await insertMessages([doc])
      const script = scriptFor(recipient, job.otp, job.delivery)
      scripts.set(job, script)
      const { early } = script
      if (early !== null) await report(job, early, 'receipt:early')
      return { reference: null }
    },

    /** In the inbox it is found by the recipient, like the other messages of its verification. */
    askForContact: (message, signal) =>
      provider.send({ ...message, recipient: recipientOf(message.job) } as DeliveryMessage, signal),

    async simulateReceipts(job, sentAt) {
      for (const [nth, { afterMs, status }] of (scriptOf(job)?.receipts ?? []).entries()) {
        const waitMs = sentAt + afterMs - clock.now()
        if (waitMs > MAX_WAIT_IN_PROCESS_MS) return retry(waitMs)
        if (waitMs > 0) await sleep(clock, waitMs)
        await report(job, status, `receipt:${nth + 1}`)
      }
      return done()
    },
  }
  return provider

  function recipientOf({ otp }: DeliveryJob): string {
    return keyring.unseal(otp.recipient.sealed, atRest.recipient(otp.otp_id))
  }

  function newMessageDocument(
    { otp, delivery, purge_at }: DeliveryJob,
    recipient: string,
    locale: string,
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
