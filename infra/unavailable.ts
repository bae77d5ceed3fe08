// The error with which the broker and the store say "the engine cannot do this now". The caller may try again later; the edge answers 503.
// An error that the ports do not declare is a bug.
export class Unavailable extends Error {
  override name = 'Unavailable'
}

/** The same, said before the engine was asked: nothing of the work was begun. */
export class NotBegun extends Unavailable {
  override name = 'NotBegun'
}

/** What the caller of a change reads where it is unavailable. */
export const MAYBE_EXECUTED =
  'It may or may not have been executed. Repeat a send with the same idempotency key; of anything else, ask for its state first.'
