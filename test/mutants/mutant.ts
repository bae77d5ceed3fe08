// A mutant: one planted fault, and the tests that must find it. test/mutants/main.ts plants them one at a time.

export interface Mutant {
  /** What is broken, as a sentence about behaviour: "a wrong code spends no attempt". */
  fault: string
  /** A file of the product. */
  file: string
  /** A piece of that file that occurs in it exactly once. */
  original: string
  /** What stands in its place. The file still compiles without an error of types. */
  planted: string
  /** Test files or folders, of which at least one test must fail. */
  tests: readonly string[]
  /** The tests that find it run on these engines alone, and the run must have them. */
  needs?: 'MongoDB' | 'RabbitMQ'
}
