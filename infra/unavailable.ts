// The error with which the broker and the store say "the engine cannot do this now". The caller may try again later; the edge answers 503.
// An error that the ports do not declare is a bug.
export class Unavailable extends Error {
  override name = 'Unavailable'
}
