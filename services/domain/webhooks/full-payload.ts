// What endpoints with the payload `full` receive beyond the contract's members. In: an event, and the verification it is about. Out: its
// payload. It is made when the event is stored for its endpoint, so that every attempt sends the same bytes. Metadata are read from the
// verification when the event is sent, so that no copy of them has to be erased.
import { isoTime } from '../../../infra/iso-time.ts'
import type { Otp } from '../../../machines/otp.ts'
import type { EventDoc } from './documents.ts'

const EXTRA_MEMBERS = ['channel', 'country', 'reason', 'created_at'] as const

type Payload = EventDoc['payload']
type Described = Pick<EventDoc, 'payload' | 'created_at'>

/** The part of a verification's document that is told. The metadata are those of the id that the event names. */
interface DescribedOtp {
  context: Pick<Otp, 'deliveries' | 'approval' | 'channel' | 'recipient'>
  metadata?: string
}

/** As `minimal` has it, from either kind. */
export function minimalPayload(payload: Payload): Payload {
  const { channel, country, reason, created_at, ...rest } = payload
  return rest
}

/** The members of an event's document for an endpoint with the payload `full`. `otp`: null where it is gone. */
export const fullFields = (
  event: Described,
  otp: DescribedOtp | null,
): Pick<EventDoc, 'payload' | 'with_metadata'> => ({
  payload: fullPayload(event, otp),
  ...(otp?.metadata === undefined ? {} : { with_metadata: true }),
})

/** An event that is about no verification is the same in both kinds. */
function fullPayload({ payload, created_at }: Described, otp: DescribedOtp | null): Payload {
  if (payload.otp_id === undefined) return payload
  const extra: Partial<Record<(typeof EXTRA_MEMBERS)[number], string | null | undefined>> = {
    ...(otp ? detailsOf(otp, payload.delivery_id) : {}),
    created_at: isoTime(created_at),
  }
  const known = EXTRA_MEMBERS.flatMap(name => (extra[name] ? [[name, extra[name]]] : []))
  return { ...minimalPayload(payload), ...Object.fromEntries(known) }
}

function detailsOf({ context }: DescribedOtp, delivery_id: string | undefined) {
  const delivery = context.deliveries.find(one => one.delivery_id === delivery_id)
  return {
    channel: delivery?.channel ?? context.approval?.channel ?? context.channel,
    country: context.recipient.country,
    reason: delivery?.reason,
  }
}
