// Times in queries: ISO 8601 there, epoch milliseconds in the store.
import { z } from 'zod'

/** A time in a query. A "+" that was not escaped arrives as a space. */
export const timeQuery = (description: string) =>
  z
    .string()
    .transform(text => text.replaceAll(' ', '+'))
    .pipe(z.iso.datetime({ offset: true, error: 'must be a time, such as "2030-01-31T12:00:00Z"' }))
    .transform(text => Date.parse(text))
    .optional()
    .meta({ description, documentedAs: z.iso.datetime() })

/** Adds the one problem that two valid times can have. A time that is not valid is still a text here, and has its own problem. */
export const refuseEmptyRange: z.core.CheckFn<{ since?: number | undefined; until?: number | undefined }> = ({
  value: { since, until },
  issues,
}) => {
  if (typeof since === 'number' && typeof until === 'number' && since >= until)
    issues.push({ code: 'custom', path: ['until'], message: 'must be later than since', input: until })
}
