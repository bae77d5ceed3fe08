// The number of examples, hints and messages. Ofcom keeps it for fiction, so it has no owner; libphonenumber takes it for a British one.
export const SAMPLE_NUMBER = '+442079460156'
/** As people write it. */
export const SAMPLE_NUMBER_SPACED = '+44 20 7946 0156'
