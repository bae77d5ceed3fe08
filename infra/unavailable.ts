// The one error both ports use for "the engine cannot do this now". Whoever catches it may try again later; the edge answers 503.
// Anything else an adapter throws is a bug in our code or a broken promise of the engine.
export class Unavailable extends Error {
  override name = 'Unavailable'
}
