// How long a vendor may try to deliver a message. In: a delivery and the bounds that the vendor accepts. Out: the seconds until its code
// expires. A message that is still in the vendor's queue then is not sent.
import type { DeliveryJob } from '../provider.ts'

export const codeValiditySeconds = (
  { otp }: DeliveryJob,
  now: number,
  { min, max }: { min: number; max: number },
): number => Math.min(Math.max(Math.ceil((otp.expires_at - now) / 1000), min), max)
