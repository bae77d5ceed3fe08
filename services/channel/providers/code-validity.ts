// How long a vendor may try to deliver a message. In: when its code expires, and the bounds that the vendor accepts. Out: the seconds until
// it does. A message that is still in the vendor's queue by then is not sent.

export const codeValiditySeconds = (
  expires_at: number,
  now: number,
  { min, max }: { min: number; max: number },
): number => Math.min(Math.max(Math.ceil((expires_at - now) / 1000), min), max)
