// How often a property is tried. Tests name the number for `npm test`; PROPERTY_RUNS multiplies it (`npm run test:properties`). mocha loads
// this file first, so that properties which name none are multiplied too.
import process from 'node:process'
import fc from 'fast-check'

const FACTOR = Number(process.env.PROPERTY_RUNS ?? 1)
/** What fast-check does by itself. */
const USUAL = 100

export const propertyRuns = (count: number): number => Math.ceil(count * FACTOR)

fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: propertyRuns(USUAL) })
