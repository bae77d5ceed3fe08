// What a guide of the reference is: a page that explains, beside the pages of operations.
import type { OpenApiDocument } from '../../../../infra/openapi/document.ts'
import type { Base } from '../code-block.ts'
import type { Html } from '../html.ts'

export interface GuideInput {
  document: OpenApiDocument
  base: Base
}

export interface Guide {
  /** The anchor of its heading, and the end of its address. */
  id: string
  name: string
  /** What it answers, in one line. */
  about: string
  /** Other words that readers search for, with commas between them. */
  keywords: string
  /** The screen of the dashboard that is about the same. */
  screen?: string
  render(input: GuideInput): Html
}
