// Documents refusals. The examples are made by the same code as the real refusals. Those that both APIs answer are here.
import {
  brokenJson as brokenJsonProblem,
  httpException,
  type Problem,
  problemBody,
} from '../../../infra/http/problem.ts'
import type { ApiRefusal } from '../../../infra/openapi/operation.ts'
import type { ErrorType } from '../../../machines/errors.ts'
import { problem } from '../errors.ts'

const REQUEST_ID = '5f0c6a3e-6f0e-4d0a-9a43-2f1f6a1f7c55'

export const documentRefusal = (when: string, failure: Problem): ApiRefusal => ({
  status: failure.status,
  type: failure.type,
  when,
  example: problemBody(failure, REQUEST_ID),
})

export const errorRefusal = (type: ErrorType, when: string, members: Record<string, unknown> = {}): ApiRefusal =>
  documentRefusal(when, problem(type, { members }))

export const commonRefusal = {
  brokenJson: documentRefusal('The body is not JSON.', brokenJsonProblem()),
  tooLarge: documentRefusal('The body is too large.', httpException(413)),
  notJson: documentRefusal('The body is not application/json.', httpException(415)),
  failed: documentRefusal('A fault of ours.', httpException(500)),
}
