// Makes a change through the API. In: the change. Out: whether it is under way, and why it was refused: for the form as a whole, and
// beside each field.
import { useRef, useState } from 'preact/hooks'
import { Problem } from '../api/problem.ts'

export interface Change {
  busy: boolean
  problem: Problem | null
  /** The words beside a field, by the field's path in the body. */
  errorOf(path: string): string | undefined
  /** Refused fields that the form does not show: those that `errorOf` was not asked for. */
  fieldsElsewhere(): [path: string, message: string][]
  /** Runs the change unless one is under way. Resolves to whether it was made. */
  run(change: () => Promise<void>): Promise<boolean>
  /** Forgets an earlier refusal. */
  reset(): void
}

export function useChange(): Change {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  // State is set after the next paint; a second click may come before.
  const underWay = useRef(false)
  const shown = useRef(new Set<string>())
  return {
    busy,
    problem,
    errorOf(path) {
      shown.current.add(path)
      return problem?.fields.get(path)
    },
    fieldsElsewhere: () => [...(problem?.fields ?? [])].filter(([path]) => !shown.current.has(path)),
    async run(change) {
      if (underWay.current) return false
      underWay.current = true
      setBusy(true)
      try {
        await change()
        setProblem(null)
        return true
      } catch (thrown) {
        setProblem(Problem.from(thrown))
        return false
      } finally {
        underWay.current = false
        setBusy(false)
      }
    },
    reset: () => setProblem(null),
  }
}
