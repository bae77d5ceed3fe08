/** A document as the driver sees it. */
export interface Stored {
  _id: string
  [field: string]: unknown
}
