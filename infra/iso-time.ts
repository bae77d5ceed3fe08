// Times are epoch milliseconds in the store and ISO 8601 in UTC in answers.
export const isoTime = (at: number): string => new Date(at).toISOString()

export const isoTimeOrNull = (at: number | null): string | null => (at === null ? null : isoTime(at))
