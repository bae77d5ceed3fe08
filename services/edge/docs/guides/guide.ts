// What a guide of the reference is: a section that explains, beside the sections of single operations.
import type { OpenApiDocument } from '../../../../infra/openapi/document.ts'
import type { Base } from '../code-block.ts'
import type { Html } from '../html.ts'

export interface GuideInput {
  document: OpenApiDocument
  base: Base
}

export interface Guide {
  /** The anchor. */
  id: string
  name: string
  render(input: GuideInput): Html
}
