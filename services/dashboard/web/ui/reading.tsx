// What stands in place of data that are not there yet, or that cannot be read. Old data may stay beside a problem.
import type { Query } from '../data/use-query.ts'
import { Loading } from './loading.tsx'
import { ProblemNotice } from './notice.tsx'

export interface ReadingProps {
  of: Pick<Query<unknown>, 'data' | 'problem' | 'reload'>
  /** Such as "the webhook". */
  what: string
}

export function Reading({ of: { data, problem, reload }, what }: ReadingProps) {
  if (problem) return <ProblemNotice problem={problem} onRetry={reload} />
  return data === undefined ? <Loading what={what} /> : null
}
